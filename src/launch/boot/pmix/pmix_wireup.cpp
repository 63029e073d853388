#include "launch/boot/pmix/pmix_wireup.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>

namespace heddle::boot {
namespace {

// Null: the library has no such function.
template <class Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

// It stays open: its threads run in it.
Result<pmix::Functions> load() {
  void* const library = dlopen(pmix::library, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    return refuse(
        "its PMIx needs %s, which is not found (%.120s); LD_LIBRARY_PATH must name its folder, or on Debian: apt "
        "install libpmix2",
        pmix::library, why != nullptr ? why : "?");
  }
  pmix::Functions functions{};
  if (find(library, "PMIx_Init", functions.init) && find(library, "PMIx_Finalize", functions.finalize) &&
      find(library, "PMIx_Abort", functions.abort) && find(library, "PMIx_Put", functions.put) &&
      find(library, "PMIx_Commit", functions.commit) && find(library, "PMIx_Fence", functions.fence) &&
      find(library, "PMIx_Get", functions.get) && find(library, "PMIx_Query_info", functions.query) &&
      find(library, "PMIx_Error_string", functions.error_string))
    return functions;
  return refuse("%s lacks functions of PMIx 4.2", pmix::library);
}

template <std::size_t n>
void copy(char (&to)[n], const char* from) {
  std::strncpy(to, from, n - 1);
}

void release_content(pmix::Value& value) {
  if (value.type == pmix::Type::string) std::free(value.data.string);
  if (value.type == pmix::Type::array && value.data.array != nullptr) {
    std::free(value.data.array->elements);
    std::free(value.data.array);
  }
}

void release(pmix::Value* value) {
  if (value == nullptr) return;
  release_content(*value);
  std::free(value);
}

// The launcher's answers to one question, with their lifetime. There may be several, or none.
class Answers {
 public:
  Answers(const pmix::Functions& functions, const char* key, pmix::Info* qualifier) {
    std::string name = key;
    char* keys[] = {name.data(), nullptr};
    pmix::Query query{.keys = keys, .qualifiers = qualifier, .qualifier_count = qualifier != nullptr ? 1U : 0U};
    if (functions.query(&query, 1, &all_, &count_) != pmix::success) count_ = 0;
  }
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;
  ~Answers() {
    for (pmix::Info& one : *this) release_content(one.value);
    std::free(all_);
  }
  pmix::Info* begin() { return all_; }
  pmix::Info* end() { return all_ + count_; }
  // The answer to that key, of that type.
  const pmix::Value* find(const char* key, pmix::Type type) {
    for (const pmix::Info& one : *this)
      if (std::strcmp(one.key, key) == 0 && one.value.type == type) return &one.value;
    return nullptr;
  }

 private:
  pmix::Info* all_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace

Result<std::unique_ptr<Wireup>> PmixWireup::open() {
  const Result<pmix::Functions> functions = load();
  if (!functions) return functions.failure();
  std::unique_ptr<PmixWireup> wireup(new PmixWireup(*functions));
  if (const Result<void> begun = wireup->begin(); !begun) return begun.failure();
  return wireup;
}

Result<void> PmixWireup::begin() {
  if (Result<void> made = check(pmix_.init(&self_, nullptr, 0), "PMIx_Init"); !made) return made;
  open_ = true;
  rank_ = static_cast<int>(self_.rank);
  size_ = number_of_job(pmix::job_size);
  universe_size_ = std::max(0, number_of_job(pmix::universe_size));
  pmix::Value* value = nullptr;
  if (pmix_.get(&self_, pmix::appnum, nullptr, 0, &value) == pmix::success && value->type == pmix::Type::unsigned32)
    appnum_ = static_cast<int>(value->data.unsigned32);
  release(value);
  if (size_ >= 1 && rank_ >= 0 && rank_ < size_) return {};
  return refuse("invalid answer of the launcher over PMIx: rank %d of %d", rank_, size_);
}

int PmixWireup::number_of_job(const char* key) {
  pmix::Process job = self_;
  job.rank = pmix::all_ranks;
  pmix::Value* value = nullptr;
  const bool there = pmix_.get(&job, key, nullptr, 0, &value) == pmix::success && value->type == pmix::Type::unsigned32;
  const int number = there ? static_cast<int>(value->data.unsigned32) : -1;
  release(value);
  return number;
}

Result<void> PmixWireup::check(pmix::Status status, const char* what) const {
  if (status == pmix::success) return {};
  return refuse("the launcher offers PMIx, but %s failed: %.100s", what, pmix_.error_string(status));
}

Result<void> PmixWireup::put(const std::string& key, const std::string& text) {
  std::string copied = text;
  pmix::Value value{};
  value.type = pmix::Type::string;
  value.data.string = copied.data();
  if (Result<void> done = check(pmix_.put(pmix::global_scope, key.c_str(), &value), "PMIx_Put"); !done) return done;
  return check(pmix_.commit(), "PMIx_Commit");
}

Result<std::string> PmixWireup::get(int from, const std::string& key) {
  pmix::Process process = self_;
  process.rank = static_cast<std::uint32_t>(from);
  pmix::Info limit{};
  copy(limit.key, pmix::time_limit);
  limit.value.type = pmix::Type::integer;
  limit.value.data.integer = answer_limit;
  pmix::Value* value = nullptr;
  const Result<void> got = check(pmix_.get(&process, key.c_str(), &limit, 1, &value), "PMIx_Get");
  if (!got) return got.failure();
  const bool is_text = value->type == pmix::Type::string;
  std::string text = is_text ? value->data.string : "";
  release(value);
  if (!is_text) return check(pmix::timeout, "PMIx_Get").failure();
  return text;
}

// The second of a job's fences also ensures that no rank requests a text of a process that has finalized, which the
// launcher might never answer.
Result<void> PmixWireup::fence() {
  pmix::Info infos[2]{};
  copy(infos[0].key, pmix::collect_data);
  infos[0].value.type = pmix::Type::boolean;
  infos[0].value.data.boolean = true;
  copy(infos[1].key, pmix::time_limit);
  infos[1].value.type = pmix::Type::integer;
  infos[1].value.data.integer = fence_limit;
  return check(pmix_.fence(nullptr, 0, infos, 2), "PMIx_Fence");
}

void PmixWireup::finalize() {
  const std::lock_guard guard(mutex_);
  if (!std::exchange(open_, false)) return;
  (void)pmix_.finalize(nullptr, 0);
}

void PmixWireup::abort(int code, const char* text) {
  const std::lock_guard guard(mutex_);
  if (open_) (void)pmix_.abort(code, text, nullptr, 0);
}

std::vector<int> PmixWireup::local_ranks() {
  pmix::Process job = self_;
  job.rank = pmix::all_ranks;
  pmix::Value* value = nullptr;
  std::vector<int> ranks;
  if (pmix_.get(&job, pmix::local_peers, nullptr, 0, &value) == pmix::success && value->type == pmix::Type::string) {
    std::istringstream text(value->data.string);
    for (std::string one; std::getline(text, one, ',');)
      if (const int rank = std::atoi(one.c_str()); rank >= 0 && rank < size_) ranks.push_back(rank);
  }
  release(value);
  return ranks;
}

// ---- process sets

std::vector<ProcessSet> PmixWireup::process_sets() {
  const std::lock_guard guard(mutex_);
  std::vector<ProcessSet> sets;
  if (!open_) return sets;
  const std::string names = names_of_sets();
  for (std::size_t from = 0; from < names.size();) {
    const std::size_t to = std::min(names.find(',', from), names.size());
    const std::string name = names.substr(from, to - from);
    from = to + 1;
    const bool known = std::any_of(sets.begin(), sets.end(), [&](const ProcessSet& set) { return set.name == name; });
    if (!name.empty() && !known) sets.push_back({name, members_of(name)});
  }
  return sets;
}

std::string PmixWireup::names_of_sets() {
  Answers answers(pmix_, pmix::set_names, nullptr);
  const pmix::Value* const names = answers.find(pmix::set_names, pmix::Type::string);
  return names != nullptr && names->data.string != nullptr ? names->data.string : "";
}

// The members of this job.
std::vector<int> PmixWireup::members_of(std::string set) {
  pmix::Info which{};
  copy(which.key, pmix::set_name);
  which.value.type = pmix::Type::string;
  which.value.data.string = set.data();
  Answers answers(pmix_, pmix::set_members, &which);
  std::vector<int> ranks;
  const pmix::Value* const value = answers.find(pmix::set_members, pmix::Type::array);
  if (value == nullptr || value->data.array == nullptr || value->data.array->type != pmix::Type::process) return ranks;
  const auto* const all = static_cast<const pmix::Process*>(value->data.array->elements);
  for (std::size_t i = 0; i < value->data.array->size; ++i) {
    const bool here = std::strcmp(all[i].job, self_.job) == 0 && all[i].rank < static_cast<std::uint32_t>(size_);
    if (here) ranks.push_back(static_cast<int>(all[i].rank));
  }
  return ranks;
}

}  // namespace heddle::boot
