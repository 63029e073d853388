// The library libudev.so.1 for hwloc in a wheel, which cannot rely on the machine's: hwloc asks udev only for data
// about disks, which a placement never needs, and tolerates a missing udev.
extern "C" {

[[gnu::visibility("default")]] void* udev_new() { return nullptr; }
[[gnu::visibility("default")]] void* udev_unref(void*) { return nullptr; }
[[gnu::visibility("default")]] void* udev_device_new_from_subsystem_sysname(void*, const char*, const char*) {
  return nullptr;
}
[[gnu::visibility("default")]] const char* udev_device_get_property_value(void*, const char*) { return nullptr; }
[[gnu::visibility("default")]] void* udev_device_unref(void*) { return nullptr; }
}
