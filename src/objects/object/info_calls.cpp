// MPI_Info_* (MPI 5.0, chapter 10).
#include <algorithm>
#include <cstring>
#include <string_view>

#include "objects/binding/impl.hpp"
#include "objects/object/info.hpp"
#include "objects/object/info_env.hpp"
#include "objects/object/resolve.hpp"

namespace heddle::mpi {

namespace {

Error check_key(const char* key) {
  const std::size_t length = std::strlen(key);
  if (length == 0) return fail(MPI_ERR_INFO_KEY, "key is empty");
  if (length >= MPI_MAX_INFO_KEY)
    return fail(MPI_ERR_INFO_KEY, "key has %zu characters, MPI_MAX_INFO_KEY is %d", length, MPI_MAX_INFO_KEY);
  return success;
}

Error check_writable(const Info& info) {
  if (handle_of<MPI_Info>(info) == MPI_INFO_ENV) return fail(MPI_ERR_INFO, "info is MPI_INFO_ENV, which is read-only");
  return success;
}

// As much of the value as fits into `room` characters and the terminating null.
void copy_value(std::string_view from, std::size_t room, char* value) {
  const std::size_t n = std::min(from.size(), room);
  std::memcpy(value, from.data(), n);
  value[n] = '\0';
}

Error give(InfoEntries entries, MPI_Info* out) {
  *out = handle_of<MPI_Info>(*make_info(std::move(entries)));
  return success;
}

}  // namespace

Error Info_create(MPI_Info* info) { return give({}, info); }

Error Info_create_env(int argc, char* argv[], MPI_Info* info) {
  return give(describe_environment(current_rank(), argv, argc), info);
}

Error Info_dup(Info& info, MPI_Info* newinfo) { return give(info.entries(), newinfo); }

Error Info_free(MPI_Info* info) {
  Info& it = *object(*info);
  if (Error e = check_writable(it)) return e;
  retire(it);
  *info = MPI_INFO_NULL;
  return success;
}

Error Info_set(Info& info, const char* key, const char* value) {
  if (Error e = check_writable(info)) return e;
  if (Error e = check_key(key)) return e;
  const std::size_t length = std::strlen(value);
  if (length >= MPI_MAX_INFO_VAL)
    return fail(MPI_ERR_INFO_VALUE, "value of key '%.100s' has %zu characters, MPI_MAX_INFO_VAL is %d", key, length,
                MPI_MAX_INFO_VAL);
  info.set(key, value);
  return success;
}

Error Info_delete(Info& info, const char* key) {
  if (Error e = check_writable(info)) return e;
  if (Error e = check_key(key)) return e;
  if (!info.remove(key)) return fail(MPI_ERR_INFO_NOKEY, "key '%s' is not in info", key);
  return success;
}

Error Info_get(Info& info, const char* key, int valuelen, char* value, int* flag) {
  if (Error e = check_key(key)) return e;
  if (valuelen < 0) return fail(MPI_ERR_ARG, "valuelen is %d", valuelen);
  const auto found = info.get(key);
  *flag = found.has_value();
  if (found) copy_value(*found, static_cast<std::size_t>(valuelen), value);
  return success;
}

// `buflen` counts the terminating null, in and out; 0 asks for the length alone.
Error Info_get_string(Info& info, const char* key, int* buflen, char* value, int* flag) {
  if (Error e = check_key(key)) return e;
  if (*buflen < 0) return fail(MPI_ERR_ARG, "buflen is %d", *buflen);
  const auto found = info.get(key);
  *flag = found.has_value();
  if (!found) return success;
  if (*buflen > 0) copy_value(*found, static_cast<std::size_t>(*buflen) - 1, value);
  *buflen = static_cast<int>(found->size()) + 1;
  return success;
}

Error Info_get_valuelen(Info& info, const char* key, int* valuelen, int* flag) {
  if (Error e = check_key(key)) return e;
  const auto found = info.get(key);
  *flag = found.has_value();
  if (found) *valuelen = static_cast<int>(found->size());
  return success;
}

Error Info_get_nkeys(Info& info, int* nkeys) {
  *nkeys = static_cast<int>(info.entries().size());
  return success;
}

Error Info_get_nthkey(Info& info, int n, char* key) {
  const InfoEntries entries = info.entries();
  if (n < 0 || static_cast<std::size_t>(n) >= entries.size())
    return fail(MPI_ERR_ARG, "n is %d, but info has %zu keys", n, entries.size());
  copy_value(entries[static_cast<std::size_t>(n)].first, MPI_MAX_INFO_KEY - 1, key);
  return success;
}

}  // namespace heddle::mpi
