#include "mpi/comm/bootstrap.hpp"

#include <cstring>

#include "mpi/comm/exchange.hpp"
#include "mpi/comm/make_comm.hpp"
#include "objects/object/context.hpp"
#include "objects/object/tags.hpp"

namespace heddle {

namespace {

// FNV-1a.
class Hash {
 public:
  void add(const void* data, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
      value_ ^= static_cast<const unsigned char*>(data)[i];
      value_ *= 0x100000001b3;
    }
  }
  std::uint64_t value() const { return value_ ^ (value_ >> 32); }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

Context bootstrap_context(const Group& group, std::string_view stringtag) {
  Hash hash;
  hash.add(stringtag.data(), stringtag.size());
  for (int r = 0; r < group.size; ++r) {
    const int world_rank = group.world_rank(r);
    hash.add(&world_rank, sizeof world_rank);
  }
  const std::uint64_t top = std::uint64_t{1} << (context_counter_bits - 1);
  return make_context(group.world_rank(0), top | (hash.value() & (top - 1)));
}

}  // namespace

Error check_stringtag(const char* stringtag) {
  const std::size_t length = std::strlen(stringtag);
  if (length >= MPI_MAX_STRINGTAG_LEN)
    return fail(MPI_ERR_ARG, "stringtag has %zu characters, MPI_MAX_STRINGTAG_LEN is %d", length,
                MPI_MAX_STRINGTAG_LEN);
  return success;
}

Comm* make_bootstrap_comm(Rank& rank, const Group& group, std::string_view stringtag) {
  return make_comm(rank, {.context = bootstrap_context(group, stringtag), .local_group = copy_of(group)});
}

Error create_from_group(Rank& rank, const Group& group, std::string_view stringtag, Errhandler& errhandler,
                        int asked_model, Comm*& child) {
  Context context = group.rank == 0 ? fresh_context(rank, asked_model) : 0;
  Comm* bootstrap = make_bootstrap_comm(rank, group, stringtag);
  const Error error = announce_in_group(*bootstrap, group, creation_tag(0), &context, sizeof context);
  retire(*bootstrap);
  if (error) return error;
  child = make_comm(rank, {.context = context, .local_group = copy_of(group), .errhandler = &errhandler});
  return success;
}

}  // namespace heddle
