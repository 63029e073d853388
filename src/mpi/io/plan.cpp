#include "mpi/io/plan.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "messaging/p2p/p2p.hpp"
#include "mpi/coll/nodes.hpp"

namespace heddle::io {

namespace {

// Longer runs are written and read faster by their owners than they are sent.
constexpr std::int64_t long_run = 32 * 1024;
constexpr std::int64_t page = 4096;
// Aggregators on a node: more contend for the file's lock, fewer leave memory bandwidth unused.
constexpr int per_node_by_default = 4;

std::int64_t down(std::int64_t value, std::int64_t unit) { return value / unit * unit; }
std::int64_t up(std::int64_t value, std::int64_t unit) { return down(value + unit - 1, unit); }

// The members' parts that are not empty, in the order of the file.
std::vector<Part> in_order(std::span<const Part> parts) {
  std::vector<Part> sorted;
  std::ranges::copy_if(parts, std::back_inserter(sorted), [](const Part& part) { return part.bytes > 0; });
  std::ranges::sort(sorted, {}, &Part::first);
  return sorted;
}

bool pays(std::span<const Part> parts) {
  const std::vector<Part> sorted = in_order(parts);
  std::int64_t bytes = 0;
  std::int64_t runs = 0;
  std::int64_t end = 0;
  bool interleaved = false;
  for (const Part& part : sorted) {
    interleaved |= part.first < end;
    end = std::max(end, part.end);
    bytes += part.bytes;
    runs += part.runs;
  }
  return interleaved && bytes / std::max<std::int64_t>(runs, 1) < long_run;
}

// The ranks of each node.
std::vector<std::vector<int>> ranks_by_node(Comm& comm) {
  std::vector<std::vector<int>> nodes;
  if (const coll::Nodes* known = coll::nodes_of(comm)) {
    nodes.resize(known->leaders.size());
    for (int r = 0; r < comm.size; ++r)
      nodes[static_cast<std::size_t>(known->node_of[static_cast<std::size_t>(r)])].push_back(r);
  } else if (p2p::is_on_one_node(comm)) {
    nodes.emplace_back(static_cast<std::size_t>(comm.size));
    std::iota(nodes[0].begin(), nodes[0].end(), 0);
  } else {
    for (int r = 0; r < comm.size; ++r) nodes.push_back({r});
  }
  return nodes;
}

std::vector<int> choose_aggregators(Comm& comm, const Part& wishes) {
  const auto nodes = ranks_by_node(comm);
  const auto n = static_cast<int>(nodes.size());
  int per_node = wishes.per_node != 0 ? wishes.per_node : per_node_by_default;
  if (wishes.nodes != 0) per_node = (wishes.nodes + n - 1) / n;
  std::vector<int> chosen;
  for (const auto& ranks : nodes) {
    const std::size_t k = std::min(ranks.size(), static_cast<std::size_t>(per_node));
    for (std::size_t i = 0; i < k; ++i) chosen.push_back(ranks[i * ranks.size() / k]);
  }
  if (wishes.nodes != 0 && chosen.size() > static_cast<std::size_t>(wishes.nodes))
    chosen.resize(static_cast<std::size_t>(wishes.nodes));
  return chosen;
}

}  // namespace

Part describe(const Access& access) {
  const Hints& hints = access.hints;
  Part part{.bytes = static_cast<std::int64_t>(access.bytes),
            .buffer_size = hints.cb_buffer_size,
            .unit = std::max(hints.striping_unit, page),
            .nodes = hints.cb_nodes,
            .per_node = hints.cb_per_node,
            .choice = access.write ? hints.cb_write : hints.cb_read,
            .alone = !access.view.is_ordered() || access.file.atomic_mode.load(std::memory_order_relaxed) ||
                     access.hints.ds_write == Choice::enable};
  if (access.bytes == 0) return part;
  part.first = first_of(access);
  part.end = last_of(access) + 1;
  std::array<Run, 64> runs;
  std::size_t held = 0;
  const std::size_t n = access.view.runs(access.position, access.bytes, runs.data(), runs.size(), held);
  part.runs =
      static_cast<std::int64_t>(static_cast<double>(access.bytes) / static_cast<double>(held) * static_cast<double>(n));
  return part;
}

Plan::Plan(Comm& comm, std::span<const Part> parts) {
  const Part& wishes = parts[0];
  if (std::ranges::any_of(parts, &Part::alone) || wishes.choice == Choice::disable) return;
  if (std::ranges::none_of(parts, [](const Part& part) { return part.bytes > 0; })) return;
  if (wishes.choice == Choice::automatic && !pays(parts)) return;
  aggregators_ = choose_aggregators(comm, wishes);
  lay_out(parts);
}

void Plan::lay_out(std::span<const Part> parts) {
  const std::int64_t unit = parts[0].unit;
  std::int64_t span = 0;
  for (const Part& part : in_order(parts)) {
    const std::int64_t first = down(part.first, unit);
    const std::int64_t end = up(part.end, unit);
    if (!stretches_.empty() && first <= stretches_.back().end) {
      stretches_.back().end = std::max(stretches_.back().end, end);
    } else {
      stretches_.push_back({first, end, 0});
    }
  }
  for (const Stretch& stretch : stretches_) span += stretch.end - stretch.first;
  const auto n = static_cast<std::int64_t>(aggregators_.size());
  window_bytes_ = std::min(up(parts[0].buffer_size, unit), up((span + n - 1) / n, unit));
  std::int64_t windows = 0;
  for (Stretch& stretch : stretches_) {
    stretch.window = windows;
    windows += (stretch.end - stretch.first + window_bytes_ - 1) / window_bytes_;
  }
  rounds_ = (windows + n - 1) / n;
}

Window Plan::window(std::int64_t round, std::size_t aggregator) const {
  const std::int64_t number =
      round * static_cast<std::int64_t>(aggregators_.size()) + static_cast<std::int64_t>(aggregator);
  const auto behind = std::ranges::upper_bound(stretches_, number, {}, &Stretch::window);
  const Stretch& stretch = *(behind - 1);
  const std::int64_t first = std::min(stretch.end, stretch.first + (number - stretch.window) * window_bytes_);
  return {first, std::min(stretch.end, first + window_bytes_)};
}

}  // namespace heddle::io
