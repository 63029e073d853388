#include "messaging/engine/message_context.hpp"

#include <mpi.h>

#include <charconv>
#include <string>

#include "launch/rank/rank.hpp"
#include "launch/rank/settings.hpp"
#include "objects/object/error.hpp"

namespace heddle::engine {

namespace {

// Leaves `bytes` as it is if the variable is not set. False: its value is invalid.
bool read_bytes(const char* variable, std::size_t& bytes) {
  const std::string wanted = setting(variable);
  if (wanted.empty()) return true;
  if (wanted == "never") {
    bytes = message::CopySettings::never;
    return true;
  }
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), bytes);
  if (error == std::errc() && end == wanted.data() + wanted.size()) return true;
  (void)fail(MPI_ERR_ARG, "%s=%s is neither a number of bytes nor 'never'", variable, wanted.c_str());
  return false;
}

}  // namespace

bool read_copy_settings(message::CopySettings& settings) {
  return read_bytes("HEDDLE_SPLIT_COPY", settings.split_from) && read_bytes("HEDDLE_STAGED_COPY", settings.staged_from);
}

message::Context message_context(Rank& rank, wake::Wake& wake, int vni) {
  message::CopySettings copies;
  (void)read_copy_settings(copies);  // make_engine has checked the values
  return {.node = *rank.node,
          .wake = wake,
          .networks = rank.networks.get(),
          .peer_memory = rank.peer_memory,
          .job = rank.job.get(),
          .world_rank = rank.world_rank,
          .ranks = rank.world_size,
          .capacity = rank.job->capacity(),
          .oversubscribed = rank.machine.oversubscribed,
          .survives_failures = rank.job->survives_failures(),
          .strategy = rank.strategies[static_cast<std::size_t>(vni)],
          .copies = copies};
}

}  // namespace heddle::engine
