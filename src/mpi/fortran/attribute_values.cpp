#include "mpi/fortran/attribute_values.hpp"

#include <bit>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace heddle::fortran {
namespace {

static_assert(std::endian::native == std::endian::little);  // the address of an MPI_Aint is that of the int in it

// Values that Fortran has set, by their address. An attribute that Fortran has set under a keyval that C has made stays
// here for good: its deletion is C's, and is not reported to us.
struct Values {
  std::mutex mutex;
  std::unordered_map<void*, std::unique_ptr<MPI_Aint>> kept;
};

Values& values() {
  static auto* const all = new Values;  // for good: attributes may be deleted while the process ends
  return *all;
}

// Fortran's value at this address; null if it is a pointer of C's.
const MPI_Aint* find(Values& all, void* attribute) {
  const auto found = all.kept.find(attribute);
  return found == all.kept.end() ? nullptr : found->second.get();
}

}  // namespace

void* keep_value(MPI_Aint value) {
  auto made = std::make_unique<MPI_Aint>(value);
  void* const at = made.get();
  Values& all = values();
  const std::lock_guard lock(all.mutex);
  all.kept.emplace(at, std::move(made));
  return at;
}

void forget_value(void* attribute) {
  Values& all = values();
  const std::lock_guard lock(all.mutex);
  all.kept.erase(attribute);
}

MPI_Aint value_of(void* attribute) {
  Values& all = values();
  const std::lock_guard lock(all.mutex);
  const MPI_Aint* const value = find(all, attribute);
  return value ? *value : reinterpret_cast<MPI_Aint>(attribute);
}

void* copy_of_value(void* attribute) {
  Values& all = values();
  {
    const std::lock_guard lock(all.mutex);
    if (!find(all, attribute)) return attribute;
  }
  return keep_value(value_of(attribute));
}

}  // namespace heddle::fortran
