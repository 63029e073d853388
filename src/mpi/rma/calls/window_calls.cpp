// Inquiries about a window: group, name, hints (MPI 5.0, sections 12.2.7 and 7.8).
#include <algorithm>

#include "mpi/rma/window.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/group.hpp"
#include "objects/object/name.hpp"
#include "objects/object/resolve.hpp"

namespace heddle::mpi {

Error Win_get_group(Win& win, MPI_Group* group) {
  *group = handle_of<MPI_Group>(*copy_of(*win.comm->local_group));
  return success;
}

Error Win_set_name(Win& win, const char* win_name) {
  std::lock_guard guard(win.mutex);
  win.name = stored_name(win_name);
  return success;
}

Error Win_get_name(Win* win, char* win_name, int* resultlen) {
  if (!win) return copy_name("MPI_WIN_NULL", win_name, resultlen);
  std::lock_guard guard(win->mutex);
  return copy_name(win->name, win_name, resultlen);
}

Error Win_set_info(Win& win, const Info* info) {
  InfoEntries hints = known_entries(info, InfoReader::window);
  std::lock_guard guard(win.mutex);
  for (auto& [key, value] : hints) {
    const auto same = [&key = key](const auto& hint) { return hint.first == key; };
    const auto place = std::find_if(win.hints.begin(), win.hints.end(), same);
    if (place == win.hints.end()) {
      win.hints.emplace_back(std::move(key), std::move(value));
    } else {
      place->second = std::move(value);
    }
  }
  return success;
}

Error Win_get_info(Win& win, MPI_Info* info_used) {
  std::lock_guard guard(win.mutex);
  *info_used = handle_of<MPI_Info>(*make_info(win.hints));
  return success;
}

}  // namespace heddle::mpi
