#include "launch/mpiexec/open_files.hpp"

#include <algorithm>
#include <stdexcept>

namespace heddle::mpiexec {
namespace {

constexpr long long own_files = 64;  // the segment, signals, the terminal, and room to open something
constexpr rlim_t most_files = 1 << 30;

}  // namespace

void require_open_files(const Options& options) {
  long long ranks = 0;
  for (const App& app : options.apps) ranks += app.ranks;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_max = std::min(limit.rlim_max, most_files);
  const int files = (options.files.out.empty() ? 0 : 1) + (options.files.err.empty() ? 0 : 1);
  // Our ends of two pipes for each rank, and those of the ranks whose process is just being made.
  const long long needed =
      (2 + files) * ranks + 2 * std::min<long long>(ranks, std::max(options.threads, 1)) + own_files;
  if (needed <= static_cast<long long>(limit.rlim_max)) return;
  throw std::runtime_error(std::to_string(ranks) + " ranks need " + std::to_string(needed) +
                           " open files, but the limit is " + std::to_string(limit.rlim_max) +
                           "; start fewer ranks or raise the limit (ulimit -Hn)");
}

rlimit raise_open_files() {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit raised{before.rlim_max, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &raised);
  return before;
}

}  // namespace heddle::mpiexec
