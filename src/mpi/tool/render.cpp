// The report of one rank as text: communicators, where the time went, what was counted, advice. Every column has its line in
// docs/guides/report.md (tests/mpi/tool/report.py).
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/instruments/ticks.hpp"
#include "mpi/tool/figures.hpp"

namespace heddle::tool {

using instruments::Count;
using instruments::Time;

namespace {

// Text in columns: the first to the left, numbers to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> head) { rows_.push_back(std::move(head)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  std::string text() const {
    std::vector<std::size_t> widths(rows_[0].size());
    for (const auto& row : rows_)
      for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i < widths.size(); ++i) {
        const std::string padding(widths[i] - row[i].size(), ' ');
        text += "  " + (i == 0 ? row[i] + padding : padding + row[i]);
      }
      text += '\n';
    }
    return text;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string number(std::uint64_t n) { return std::to_string(n); }

std::string decimal(double value, const char* unit = "") {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g%s", value, unit);
  return text;
}

std::string ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-" : decimal(static_cast<double>(part) / static_cast<double>(whole));
}

std::string share(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.0f%%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

// The mean time in the outbox.
std::string mean_wait(const instruments::Totals& t) {
  if (t[Count::waited] == 0) return "-";
  return decimal(instruments::seconds(t[Count::waited_ticks]) * 1e6 / static_cast<double>(t[Count::waited]), " us");
}

std::string by_rail(const Figures& figures, const instruments::Totals& t) {
  if (figures.rails == 1) return "-";
  std::string text;
  for (int rail = 0; rail < figures.rails; ++rail)
    text += (rail == 0 ? "" : " + ") + number(t[instruments::bytes_by_rail(rail)]);
  return text;
}

std::string title(const CommFigures& comm) {
  std::string text = comm.name.empty() ? "(unnamed)" : comm.name;
  if (comm.freed == 0) return text;
  return text + (comm.freed > 1 ? " (" + number(comm.freed) + " freed)" : " (freed)");
}

std::string shown_vni(int vni) {
  if (vni == instruments::over_lanes) return "lanes";
  return vni != instruments::no_vni ? std::to_string(vni) : "-";
}

std::string communicators(const Figures& figures) {
  Table table({"communicator", "size", "VNI", "threads", "sends", "receives"});
  for (const CommFigures& comm : figures.comms)
    table.add({title(comm), comm.size > 0 ? std::to_string(comm.size) : "-", shown_vni(comm.vni),
               number(comm.totals.threads), number(comm.totals[Count::sends]), number(comm.totals[Count::receives])});
  return table.text();
}

std::string times(const Figures& figures) {
  Table table({"VNI", "time", "issue", "poll", "empty", "lock", "combiner", "spinning", "blocked"});
  for (const auto& [index, t] : figures.vnis) {
    const std::uint64_t whole = time_in_library(t);
    std::vector<std::string> row{std::to_string(index), decimal(instruments::seconds(whole), " s")};
    for (const Time what :
         {Time::issue, Time::poll, Time::empty, Time::lock, Time::combiner, Time::wait, Time::blocked})
      row.push_back(share(t[what], whole));
    table.add(std::move(row));
  }
  return table.text();
}

std::string traffic(const Figures& figures) {
  Table table({"VNI", "sent", "deferred", "received", "unexpected", "polls", "per message", "empty polls", "wake-ups",
               "spurious"});
  for (const auto& [index, t] : figures.vnis) {
    table.add({std::to_string(index), number(t[Count::sent]), number(t[Count::deferred]), number(t[Count::received]),
               number(t[Count::unexpected]), number(t[Count::polls]), ratio(t[Count::polls], t[Count::received]),
               number(t[Count::empty_polls]), number(t[Count::wakeups]), number(t[Count::idle_wakeups])});
  }
  return table.text();
}

std::string away(const Figures& figures) {
  Table table({"VNI", "sent to other nodes", "packets", "messages per packet", "alone", "waited", "in the outbox",
               "bytes", "by rail", "connections", "uncredited", "bytes stored"});
  for (const auto& [index, t] : figures.vnis)
    table.add({std::to_string(index), number(t[Count::sent_away]), number(t[Count::packets]),
               ratio(t[Count::sent_away], t[Count::packets]), number(t[Count::alone]), number(t[Count::waited]),
               mean_wait(t), number(t[Count::bytes_away]), by_rail(figures, t), number(t[Count::connections]),
               number(t[Count::uncredited]), number(t[Count::buffered])});
  return table.text();
}

std::string locks(const Figures& figures) {
  Table table({"VNI", "acquisitions", "contended", "empty acquisitions", "failed try-locks", "combined",
               "per acquisition", "largest"});
  for (const auto& [index, t] : figures.vnis) {
    table.add({std::to_string(index), number(t[Count::acquisitions]), number(t[Count::contended]),
               number(t[Count::wasted]), number(t[Count::refused]), number(t[Count::combined]),
               ratio(t[Count::combined], t[Count::acquisitions]), number(t.largest)});
  }
  return table.text();
}

}  // namespace

std::string render(const Figures& figures) {
  std::string text = "heddle: report of rank " + std::to_string(figures.rank) + " of " + std::to_string(figures.ranks) +
                     ", model " + figures.model +
                     (figures.model_was_chosen ? " (HEDDLE_MODEL asks for it)" : " (the default)") + '\n';
  text += "  waiting: " + figures.waiting + '\n';
  if (!figures.network.empty())
    text += "  network: " + figures.network + ", between " + std::to_string(figures.nodes) + " nodes, strategy " +
            figures.strategy + ", at most " + number(figures.unexpected) + " bytes of unexpected messages a peer\n";
  for (const std::string& model : figures.asked) text += "  asked for: " + model + '\n';
  if (!figures.comms.empty()) text += communicators(figures);
  text += times(figures) + traffic(figures);
  if (!figures.network.empty()) text += away(figures);
  text += locks(figures);
  return text + "  advice: " + advice(figures) + '\n';
}

}  // namespace heddle::tool
