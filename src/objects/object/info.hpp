// An info object: an ordered list of keys with values (MPI 5.0, chapter 10). Usable before initialization.
#pragma once

#include <mpi.h>

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/info_keys.hpp"
#include "base/threads/mutex.hpp"
#include "objects/object/object.hpp"

namespace heddle {

using InfoEntries = std::vector<std::pair<std::string, std::string>>;  // in the order of being set

struct Info final : Object {
  static constexpr Kind object_kind = Kind::info;
  Info() : Object(Kind::info) {}

  std::optional<std::string> get(std::string_view key) const;  // of any key, for MPI_Info_get; else value_of
  void set(std::string_view key, std::string_view value);      // a key that is there keeps its place
  bool remove(std::string_view key);
  InfoEntries entries() const;

  mutable threads::Mutex mutex;
  InfoEntries items;  // under `mutex`
};

// The value of a key that the library knows. Empty: `info`, which may be null, does not have it.
std::optional<std::string> value_of(const Info* info, KnownKey key);

// The entries of `info`, which may be null, that mean something to this reader.
InfoEntries known_entries(const Info* info, InfoReader reader);

// A new info object of these entries; the caller owns the reference.
Info* make_info(InfoEntries entries = {});

}  // namespace heddle
