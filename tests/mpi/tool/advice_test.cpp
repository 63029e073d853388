// The report's text: what the advice says of figures that are made up, and a table that stays in line.
#include <gtest/gtest.h>

#include <sstream>

#include "mpi/tool/figures.hpp"

namespace heddle::tool {
namespace {

using instruments::Count;
using instruments::Time;
using instruments::Totals;

std::uint64_t& at(Totals& totals, Count what) { return totals.counts[static_cast<std::size_t>(what)]; }
std::uint64_t& at(Totals& totals, Time what) { return totals.ticks[static_cast<std::size_t>(what)]; }

// One VNI and one communicator that four threads share.
Figures shared_world() {
  Figures figures{.rank = 1,
                  .ranks = 2,
                  .model = "global",
                  .model_was_chosen = true,
                  .waiting = "busy",
                  .asked = {},
                  .vnis = {{}},
                  .comms = {}};
  figures.vnis[0].totals.threads = 4;
  CommFigures comm{.name = "MPI_COMM_WORLD", .size = 2, .vni = 0, .freed = 0, .totals = {}};
  comm.totals.threads = 4;
  figures.comms.push_back(comm);
  return figures;
}

// Enough messages to be judged by, none of them conspicuous.
Figures busy_world() {
  Figures figures = shared_world();
  Totals& vni = figures.vnis[0].totals;
  at(vni, Count::sent) = 1000;
  at(vni, Count::received) = 1000;
  at(vni, Count::acquisitions) = 10'000;
  at(vni, Time::issue) = 1000;
  return figures;
}

TEST(Advice, NamesTheCommunicatorThatThreadsShare) {
  Figures figures = busy_world();
  at(figures.vnis[0].totals, Count::contended) = 3000;
  at(figures.vnis[0].totals, Count::refused) = 5000;
  EXPECT_EQ(
      advice(figures),
      "4 threads share communicator MPI_COMM_WORLD, and 53% of the attempts to enter VNI 0 found it taken; give each "
      "thread a duplicate of it (MPI_Comm_dup), and use more VNIs: HEDDLE_MODEL=auto,vnis=4");
  figures.vnis.resize(4);
  EXPECT_TRUE(advice(figures).ends_with("(MPI_Comm_dup)")) << advice(figures);
}

TEST(Advice, NamesTagsOfACommunicatorWithLanes) {
  Figures figures = busy_world();
  figures.vnis.resize(4);
  figures.comms[0].vni = instruments::over_lanes;
  at(figures.vnis[0].totals, Count::contended) = 3000;
  EXPECT_EQ(
      advice(figures),
      "4 threads use communicator MPI_COMM_WORLD, and 30% of the attempts to enter VNI 0 found it taken; give each "
      "thread a tag of its own, with numbers that follow each other");
}

TEST(Advice, NamesNoCommunicatorThatOneThreadUses) {
  Figures figures = busy_world();
  figures.comms[0].totals.threads = 1;
  at(figures.vnis[0].totals, Count::contended) = 3000;
  EXPECT_EQ(advice(figures),
            "4 threads use VNI 0, and 30% of their attempts to enter found it taken; use more VNIs: "
            "HEDDLE_MODEL=auto,vnis=4");
}

TEST(Advice, LetsThreadsSleepThatNeverDo) {
  Figures figures = busy_world();
  at(figures.vnis[0].totals, Count::wasted) = 1'500'000;
  EXPECT_EQ(advice(figures), "none: nothing stands out") << "they sleep as it is";
  figures.never_sleep = true;
  EXPECT_EQ(advice(figures),
            "waiting threads never block, and polled 1500 times without result for each message; let them block: "
            "HEDDLE_WAIT=spin");
  figures.may_sleep = false;
  EXPECT_TRUE(advice(figures).ends_with("let them block: HEDDLE_MODEL=auto")) << advice(figures);
}

TEST(Advice, LetsMessagesGoTogetherThatGoOneByOne) {
  Figures figures = busy_world();
  at(figures.vnis[0].totals, Count::packets) = 1000;
  at(figures.vnis[0].totals, Count::alone) = 700;
  figures.strategy = "aggregate";
  EXPECT_EQ(advice(figures), "none: nothing stands out") << "they went together where they could";
  figures.strategy = "direct";
  figures.model = "lockq-mcs,strategy=direct,vnis=2";
  EXPECT_EQ(advice(figures),
            "70% of the packets to other nodes carried one short message, right behind another; let them go together: "
            "HEDDLE_MODEL=lockq-mcs,vnis=2,strategy=aggregate");
}

TEST(Advice, SeesLateReceives) {
  Figures figures = busy_world();
  at(figures.vnis[0].totals, Count::unexpected) = 950;
  EXPECT_TRUE(advice(figures).starts_with("95% of the messages came before their receive was posted"));
}

TEST(Advice, BlamesNoThreadForWaiting) {
  Figures figures = busy_world();
  at(figures.vnis[0].totals, Time::wait) = 5000;
  at(figures.vnis[0].totals, Time::blocked) = 4000;
  EXPECT_TRUE(advice(figures).starts_with("none: 90% of the time in the library is spent waiting for messages"));
}

TEST(Advice, NamesThreadsThatKeepTheCores) {
  Figures figures = busy_world();
  at(figures.vnis[0].totals, Time::wait) = 99'000;
  figures.threads = 8;
  figures.cores = 2;
  EXPECT_EQ(
      advice(figures),
      "99% of the time in the library is spent waiting for other ranks, and this process has 8 threads for 2 of the "
      "cores; start fewer (OMP_NUM_THREADS=2), or let them block (OMP_WAIT_POLICY=passive)");
  figures.cores = 8;
  EXPECT_TRUE(advice(figures).starts_with("none: ")) << advice(figures);
}

TEST(Advice, JudgesNoProgramThatDidNextToNothing) {
  Figures figures = shared_world();
  Totals& vni = figures.vnis[0].totals;
  figures.never_sleep = true;
  at(vni, Count::sent) = 49;
  at(vni, Count::received) = 50;
  at(vni, Count::unexpected) = 50;
  at(vni, Count::acquisitions) = 1'000'000;
  at(vni, Count::contended) = 900'000;
  at(vni, Count::wasted) = 900'000;
  EXPECT_EQ(advice(figures), "none: 99 messages are too few to judge by");
  figures.vnis.clear();
  EXPECT_EQ(advice(figures), "none: 0 messages are too few to judge by");
}

TEST(Render, LinesOfATableAreEquallyLong) {
  Figures figures = shared_world();
  CommFigures gone{.name = "", .size = 0, .vni = -1, .freed = 12, .totals = {}};
  at(gone.totals, Count::sends) = 1234567;
  figures.comms.push_back(gone);
  at(figures.vnis[0].totals, Count::polls) = 7;
  at(figures.vnis[0].totals, Count::received) = 2;
  figures.waiting = "as the model does";
  std::istringstream lines(render(figures));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "heddle: report of rank 1 of 2, model global (HEDDLE_MODEL asks for it)");
  std::getline(lines, line);
  EXPECT_EQ(line, "  waiting: as the model does");
  std::size_t length = 0;
  for (int i = 0; i < 3; ++i) {
    std::getline(lines, line);
    if (i == 0) length = line.size();
    EXPECT_EQ(line.size(), length) << line;
  }
  EXPECT_TRUE(line.starts_with("  (unnamed) (12 freed)")) << line;
  EXPECT_NE(render(figures).find(" 3.5 "), std::string::npos);  // polls per message
}

}  // namespace
}  // namespace heddle::tool
