// MPI_Session_* and groups from process sets (MPI 5.0, section 11.3).
#include <strings.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string_view>
#include <vector>

#include "launch/rank/rank.hpp"
#include "messaging/engine/asked_models.hpp"
#include "messaging/engine/engine.hpp"
#include "messaging/p2p/buffer.hpp"
#include "mpi/comm/hints.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/group.hpp"
#include "objects/object/resolve.hpp"
#include "objects/object/session.hpp"

namespace heddle {

Session* object(MPI_Session handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  return value >= arena::first_user_handle ? live_object<Session>(value) : nullptr;
}

namespace mpi {

namespace {

// The sets of every job; those of the launcher follow.
constexpr std::string_view own_sets[] = {"mpi://WORLD", "mpi://SELF"};
constexpr int world_set = 0;
constexpr int own_set_count = std::size(own_sets);
constexpr KnownKey level_key = "thread_level";

// The launcher is asked once per session, which thus sees the same sets as long as it lasts.
const std::vector<boot::ProcessSet>& sets_of_launcher(Session& session) {
  const std::lock_guard guard(session.asking_for_sets);
  if (!session.sets) session.sets = current_rank().job->process_sets();
  return *session.sets;
}

int count_sets(Session& session) { return own_set_count + static_cast<int>(sets_of_launcher(session).size()); }

const boot::ProcessSet& set_of_launcher(Session& session, int which) {
  return sets_of_launcher(session)[static_cast<std::size_t>(which - own_set_count)];
}

// Names of the standard are URIs, whose scheme and host do not depend on case; the launcher's are used unchanged.
Error find_process_set(Session& session, const char* name, int& which) {
  for (which = 0; which < own_set_count; ++which) {
    const std::string_view set = own_sets[which];
    if (strncasecmp(name, set.data(), set.size() + 1) == 0) return success;
  }
  for (; which < count_sets(session); ++which)
    if (set_of_launcher(session, which).name == name) return success;
  return fail(MPI_ERR_ARG, "there is no process set '%.200s' that this process is a member of", name);
}

struct ThreadLevel {
  std::string_view name;
  int value;
};

constexpr ThreadLevel thread_levels[] = {
    {"MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
    {"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
    {"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
    {"MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE},
};

// A level that is less than what the library provides is granted by providing that.
Error check_requested_level(std::string_view name) {
  const auto known = [&](const ThreadLevel& level) { return level.name == name; };
  if (std::any_of(std::begin(thread_levels), std::end(thread_levels), known)) return success;
  return fail(MPI_ERR_INFO_VALUE,
              "thread_level=%.*s is no level of thread support; there are MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, "
              "MPI_THREAD_SERIALIZED and MPI_THREAD_MULTIPLE",
              static_cast<int>(name.size()), name.data());
}

std::string_view provided_level(const Rank& rank) {
  const int level = rank.engine->thread_level();
  const auto same = [&](const ThreadLevel& entry) { return entry.value == level; };
  return std::find_if(std::begin(thread_levels), std::end(thread_levels), same)->name;
}

}  // namespace

Error Session_init(const Info* info, Errhandler& errhandler, MPI_Session* session) {
  if (!errhandler.fits(Kind::session)) return fail(MPI_ERR_ERRHANDLER, "errhandler is not one for sessions");
  if (const auto level = value_of(info, level_key)) {
    if (Error e = check_requested_level(*level)) return e;
  }
  if (Error e = acquire_library(current_rank())) return e;
  int model = 0;
  const auto asked = value_of(info, model_key);
  if (asked) {
    if (Error e = engine::ask_for_model(current_rank(), *asked, model)) {
      release_library(current_rank());
      return e;
    }
  }
  Session* made = make_object<Session>();
  made->errhandler.set(errhandler);
  made->hints = {{std::string(level_key.name()), std::string(provided_level(current_rank()))},
                 {"mpi_memory_alloc_kinds", "mpi,system"}};
  if (asked) made->hints.emplace_back(model_key.name(), *asked);
  made->asked_model = model;
  *session = handle_of<MPI_Session>(*made);
  return success;
}

Error Session_finalize(MPI_Session* session) {
  Session& ending = *object(*session);
  if (ending.buffer) ending.buffer->flush();
  ending.buffer.reset();  // groups may keep the session for longer
  current_rank().engine->send_deferred([](int) { return true; });
  retire(ending);
  *session = MPI_SESSION_NULL;
  release_library(current_rank());
  return success;
}

Error Session_get_info(Session& session, MPI_Info* info_used) {
  *info_used = handle_of<MPI_Info>(*make_info(session.hints));
  return success;
}

Error Session_get_num_psets(Session& session, const Info* info, int* npset_names) {
  *npset_names = count_sets(session);
  return success;
}

// `pset_len` counts the terminating null, in and out; 0 asks for the length alone.
Error Session_get_nth_pset(Session& session, const Info* info, int n, int* pset_len, char* pset_name) {
  if (n < 0 || n >= count_sets(session))
    return fail(MPI_ERR_ARG, "n is %d, but there are %d process sets", n, count_sets(session));
  const std::string_view name = n < own_set_count ? own_sets[n] : set_of_launcher(session, n).name;
  if (*pset_len > 0) {
    if (!pset_name)
      return fail(MPI_ERR_ARG, "pset_name is a null pointer, which it may be only if pset_len is 0 (here: %d)",
                  *pset_len);
    const std::size_t length = std::min(name.size(), static_cast<std::size_t>(*pset_len) - 1);
    std::memcpy(pset_name, name.data(), length);
    pset_name[length] = '\0';
  }
  *pset_len = static_cast<int>(name.size()) + 1;
  return success;
}

Error Session_get_pset_info(Session& session, const char* pset_name, MPI_Info* info) {
  int which = 0;
  if (Error e = find_process_set(session, pset_name, which)) return e;
  int size = which == world_set ? current_rank().world_size : 1;
  if (which >= own_set_count) size = static_cast<int>(set_of_launcher(session, which).ranks.size());
  *info = handle_of<MPI_Info>(*make_info({{"mpi_size", std::to_string(size)}}));
  return success;
}

Error Group_from_session_pset(Session& session, const char* pset_name, MPI_Group* newgroup) {
  int which = 0;
  if (Error e = find_process_set(session, pset_name, which)) return e;
  const Rank& rank = current_rank();
  Group* group = which == world_set      ? make_world_group(rank)
                 : which < own_set_count ? make_group(rank, {rank.world_rank})
                                         : make_group(rank, set_of_launcher(session, which).ranks);
  set_session(*group, &session);
  *newgroup = handle_of<MPI_Group>(*group);
  return success;
}

}  // namespace mpi
}  // namespace heddle
