// The library libudev.so.1 for hwloc in a wheel, where nobody can count on the machine's: hwloc asks udev only for what it does
// not know itself about disks, which a placement never asks for, and copes with a udev that is not there.
extern "C" {

[[gnu::visibility("default")]] void* udev_new() { return nullptr; }
[[gnu::visibility("default")]] void* udev_unref(void*) { return nullptr; }
[[gnu::visibility("default")]] void* udev_device_new_from_subsystem_sysname(void*, const char*, const char*) {
  return nullptr;
}
[[gnu::visibility("default")]] const char* udev_device_get_property_value(void*, const char*) { return nullptr; }
[[gnu::visibility("default")]] void* udev_device_unref(void*) { return nullptr; }
}
