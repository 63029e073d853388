#include "base/threads/selection.hpp"

#include <link.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include "base/threads/component.hpp"
#include "base/threads/library_thread.hpp"
#include "base/threads/mutex.hpp"
#include "base/threads/no_runtime.hpp"
#include "base/threads/signals_blocked.hpp"
#include "base/threads/thread_ref.hpp"

namespace heddle::threads {

namespace {

// The runtimes that have a component, and the sign that a program uses one: the file name that its library begins with.
struct Known {
  const char* name;
  const char* library;
};
constexpr std::array known{Known{"boost-fiber", "libboost_fiber.so"}, Known{"argobots", "libabt.so"},
                           Known{"qthreads", "libqthread.so"}};

constexpr std::size_t most_runtimes = 8;

// Written once, before platform::user_level is set; of the process, like the libraries themselves.
constinit std::array<const Operations*, most_runtimes> selected{};
constinit std::size_t selected_count = 0;

constexpr bool is_bound = !std::same_as<Bound, NoRuntime>;

// The library's own threads ask no runtime, nor do threads that end.
constinit thread_local bool in_kernel = false;

bool rest(std::uint32_t& rests) noexcept {
  const ThreadRef caller = detail::find_user_level();
  if (!caller) return false;
  caller.yield(rests++);
  return true;
}
constexpr platform::UserLevel waits_in_runtimes{rest};

// ---- libraries that the process has loaded

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::set<std::string> loaded_files(std::string_view begin) {
  struct Search {
    std::string_view begin;
    std::set<std::string> found;
  } search{begin, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& s = *static_cast<Search*>(data);
        if (info->dlpi_name != nullptr && file_name(info->dlpi_name).starts_with(s.begin))
          s.found.emplace(info->dlpi_name);
        return 0;
      },
      &search);
  return search.found;
}

// ---- taking one

Result<void> add(const Operations* runtime) {
  if (selected_count == most_runtimes) return refuse("there are more than %zu of them", most_runtimes);
  selected[selected_count++] = runtime;
  return {};
}

Result<void> load(const std::string& path) {
  const Result<Module> module = open_module(path, component_entry);
  if (!module) return module;
  const Operations* const runtime = reinterpret_cast<ComponentEntry>(module->entry)();
  if (runtime == nullptr || runtime->layout != operations_layout) {
    module->close();
    return refuse("%s is not a component of this version of Heddle", path.c_str());
  }
  return add(runtime);
}

Result<void> load_known(const Known& runtime) {
  const std::set<std::string> before = loaded_files(runtime.library);
  if (Result<void> loaded = load(component_folder() + "threads-" + runtime.name + ".so"); !loaded) return loaded;
  if (const std::set<std::string> after = loaded_files(runtime.library); !before.empty() && after != before) {
    --selected_count;
    return refuse("the program has %s, and the component was built for another version of it", before.begin()->c_str());
  }
  return {};
}

bool is_selected(std::string_view name) {
  return std::any_of(selected.begin(), selected.begin() + selected_count,
                     [&](const Operations* runtime) { return runtime->name == name; });
}

Result<void> take(const std::string& name) {
  if (is_selected(name) || name == Pthreads::name) return {};
  if (is_bound && name == Bound::name) return add(&operations_of<Bound>);
  if (name.find('/') != std::string::npos) return load(name);
  for (const Known& runtime : known)
    if (runtime.name == name) return load_known(runtime);
  std::string text = "'" + name + "' is not a thread runtime of Heddle: must be none, or a list of pthreads";
  for (const Known& runtime : known) text += std::string(", ") + runtime.name;
  return Failure{.text = text + " and paths of components"};
}

// A sentence about each runtime that can't be used.
std::string take_what_is_there() {
  std::string complaint;
  if (is_bound) (void)add(&operations_of<Bound>);
  for (const Known& runtime : known) {
    if (is_selected(runtime.name) || loaded_files(runtime.library).empty()) continue;
    if (const Result<void> loaded = load_known(runtime); !loaded)
      complaint += std::string("threads of ") + runtime.name +
                   " will block their kernel threads: " + loaded.failure().text + ". ";
  }
  return complaint;
}

Result<void> take_list(std::string_view wanted) {
  while (!wanted.empty()) {
    const std::string_view name = wanted.substr(0, wanted.find(','));
    if (Result<void> taken = take(std::string(name)); !taken) return taken;
    wanted.remove_prefix(std::min(name.size() + 1, wanted.size()));
  }
  return {};
}

}  // namespace

Result<std::string> select_runtimes(const std::string& wanted) {
  static Mutex mutex;
  static bool selected_once = false;
  const std::lock_guard guard(mutex);
  std::string complaint;
  if (selected_once) return complaint;
  if (wanted.empty()) {
    complaint = take_what_is_there();
  } else if (wanted != "none") {
    if (const Result<void> taken = take_list(wanted); !taken) return taken.failure();
  }
  selected_once = true;
  if (selected_count != 0) platform::user_level.store(&waits_in_runtimes, std::memory_order_release);
  return complaint;
}

std::string selected_runtimes() {
  std::string names = Pthreads::name;
  for (std::size_t i = 0; i < selected_count; ++i) names += std::string(",") + selected[i]->name;
  return names;
}

ThreadRef detail::find_user_level() noexcept {
  if (in_kernel) return {};
  for (std::size_t i = 0; i < selected_count; ++i) {
    // The bound one is called without its table.
    const Operations* const runtime = selected[i];
    const Thread thread = runtime == &operations_of<Bound> ? Bound::self() : runtime->self();
    if (thread != nullptr) return {runtime, thread};
  }
  for (std::size_t i = 0; i < selected_count; ++i) {
    const Operations* const runtime = selected[i];
    const Thread thread = runtime->carrier != nullptr ? runtime->carrier() : nullptr;
    if (thread != nullptr) return {runtime, thread};
  }
  return {};
}

void end_of_kernel_thread() noexcept { in_kernel = true; }

std::uintptr_t identity() {
  const ThreadRef caller = user_level();
  return caller ? reinterpret_cast<std::uintptr_t>(caller.thread()) : platform::Native::self();
}

std::thread make_library_thread(std::function<void()> body) {
  // A thread inherits its creator's blocked signals, so no handler runs there even before its first instruction.
  const SignalsBlocked blocked;
  return std::thread([body = std::move(body)] {
    in_kernel = true;
    body();
  });
}

void start_library_thread(std::function<void()> body) { make_library_thread(std::move(body)).detach(); }

}  // namespace heddle::threads
