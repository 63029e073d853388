// The report's text: what the advice says of figures that are made up, and a table that stays in line.
#include <gtest/gtest.h>

#include <sstream>

#include "tool/figures.hpp"

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

TEST(Advice, NamesTheCommunicatorThatThreadsShare) {
  Figures figures = shared_world();
  at(figures.vnis[0].totals, Time::issue) = 390;
  at(figures.vnis[0].totals, Time::lock) = 600;
  at(figures.vnis[0].totals, Time::combiner) = 10;
  const std::string said = advice(figures);
  EXPECT_TRUE(
      said.starts_with("4 threads share communicator MPI_COMM_WORLD: 61% of their time goes to waiting for VNI 0"))
      << said;
  EXPECT_NE(said.find("several VNIs (HEDDLE_MODEL=per-vni)"), std::string::npos) << said;
  figures.vnis.push_back({});
  EXPECT_EQ(advice(figures).find("several VNIs"), std::string::npos);
}

TEST(Advice, SeesEmptyCriticalSections) {
  Figures figures = shared_world();
  at(figures.vnis[0].totals, Time::empty) = 300;
  at(figures.vnis[0].totals, Time::issue) = 700;
  at(figures.vnis[0].totals, Count::polls) = 250;
  at(figures.vnis[0].totals, Count::received) = 100;
  const std::string said = advice(figures);
  EXPECT_TRUE(
      said.starts_with("30% of the time is spent in critical sections with nothing to do (2.5 polls per message)"))
      << said;
}

TEST(Advice, SeesLateReceives) {
  Figures figures = shared_world();
  at(figures.vnis[0].totals, Time::issue) = 700;
  at(figures.vnis[0].totals, Count::received) = 100;
  at(figures.vnis[0].totals, Count::unexpected) = 95;
  EXPECT_TRUE(advice(figures).starts_with("95% of the messages came before their receive was posted"));
}

TEST(Advice, SeesThatOthersAreWaitedFor) {
  Figures figures = shared_world();
  at(figures.vnis[0].totals, Time::issue) = 100;
  at(figures.vnis[0].totals, Time::wait) = 500;
  at(figures.vnis[0].totals, Time::asleep) = 400;
  EXPECT_TRUE(advice(figures).starts_with("90% of the time is spent waiting for messages"));
}

TEST(Advice, IsSilentWhenAllIsWell) {
  Figures figures = shared_world();
  EXPECT_EQ(advice(figures), "no time was spent in communication");
  at(figures.vnis[0].totals, Time::issue) = 100;
  EXPECT_EQ(advice(figures), "nothing stands out");
  figures.vnis.clear();
  EXPECT_EQ(advice(figures), "nothing was counted");
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
