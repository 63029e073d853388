#include "mpi/tool/report.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/instruments/counters.hpp"
#include "launch/rank/rank.hpp"
#include "launch/rank/settings.hpp"
#include "messaging/p2p/p2p.hpp"
#include "mpi/coll/internal.hpp"
#include "mpi/tool/figures.hpp"
#include "objects/datatype/datatype.hpp"
#include "objects/object/tags.hpp"

namespace heddle::tool {

namespace {

// The destination of the report by its value: "" nowhere, "1" standard error, anything else a file. Words that other
// variables take for a switch are no names of files.
std::string destination_of(const std::string& value) {
  constexpr std::string_view off[] = {"", "0", "no", "off", "false"}, on[] = {"1", "yes", "on", "true"};
  if (std::ranges::find(off, value) != std::end(off)) return "";
  return std::ranges::find(on, value) != std::end(on) ? "1" : value;
}

bool wanted(const std::string& value) { return !destination_of(value).empty(); }

std::string destination() { return destination_of(setting("HEDDLE_REPORT")); }

void write_all(int fd, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) return;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

// `how`: O_TRUNC or O_APPEND. One write, so that reports of several processes stay whole.
void write_report(const std::string& report, int how) {
  const std::string where = destination();
  if (where.empty() || where == "1") return write_all(STDERR_FILENO, report);
  const int file = open(where.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666);
  if (file < 0) {
    std::fprintf(stderr, "heddle: cannot write HEDDLE_REPORT=%s: %s\n", where.c_str(), std::strerror(errno));
    return;
  }
  write_all(file, report);
  close(file);
}

Error send_text(Comm& world, const std::string& text) {
  return p2p::send(world, Plane::collective, text.data(), static_cast<MPI_Count>(text.size()),
                   *predefined_datatype(MPI_BYTE), 0, report_tag);
}

Error receive_text(Comm& world, int from, std::string& text) {
  return p2p::recv(world, Plane::collective, text.data(), static_cast<MPI_Count>(text.size()),
                   *predefined_datatype(MPI_BYTE), from, report_tag);
}

Error gather_and_write(Comm& world, std::string report, const std::vector<std::uint64_t>& sizes) {
  for (int from = 1; from < world.size; ++from) {
    std::string text(sizes[static_cast<std::size_t>(from)], '\0');
    if (text.empty()) continue;
    if (Error e = receive_text(world, from, text)) return e;
    report += text;
  }
  write_report(report, O_TRUNC);
  return success;
}

}  // namespace

Error prepare_report(const Rank& rank) {
  const std::string where = destination();
  if (where.empty()) return success;
  instruments::switch_on();
  if (where == "1" || rank.world_rank != 0) return success;
  const int file = open(where.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0)
    return fail(
        MPI_ERR_ARG,
        "cannot write HEDDLE_REPORT=%.300s: %s. Name a file that can be written, 1 for standard error, or 0 for no "
        "report",
        where.c_str(), std::strerror(errno));
  close(file);
  return success;
}

void change_report(const std::string& from, const std::string& to) {
  if (wanted(to)) instruments::switch_on();
  if (wanted(from)) instruments::switch_off();
}

std::string take_report(Rank& rank) { return destination().empty() ? "" : render(collect(rank)); }

Error publish_report(Rank& rank, const std::string& report) {
  Comm& world = *rank.world;
  // Ranks without a report take part, too: the variable may be set on some ranks only.
  const std::uint64_t mine = report.size();
  std::uint64_t longest = mine;
  if (Error e = coll::allreduce(world, longest, coll::ReductionKind::max)) return e;
  if (longest == 0) return success;
  std::vector<std::uint64_t> sizes(static_cast<std::size_t>(world.size));
  if (Error e = coll::allgather_bytes(world, &mine, sizes.data(), sizeof mine)) return e;
  const Error error = world.rank == 0  ? gather_and_write(world, report, sizes)
                      : report.empty() ? success
                                       : send_text(world, report);
  if (error) return error;
  return coll::barrier(world);
}

void print_report(const std::string& report) {
  if (!report.empty()) write_report(report, O_APPEND);
}

}  // namespace heddle::tool
