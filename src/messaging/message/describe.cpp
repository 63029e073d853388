// Prints the tables of docs/design that follow from the code, each behind a line with its name: which protocol a message takes
// (message/choose.hpp), and which threads an event wakes (wake/wake.hpp). tools/manual/design_tables.py puts them into their pages.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "messaging/message/choose.hpp"
#include "messaging/wake/wake.hpp"
#include "network/route.hpp"

using namespace heddle;

namespace {

using message::CopyCase;
using message::Copying;
using message::Leaving;
using message::LocalCopy;
using message::PeerKind;

constexpr std::size_t longest = 64 * 1024 * 1024;
constexpr std::size_t of_network = 12'345;  // stands for the limit of any network

std::string text_of(std::size_t bytes) {
  if (bytes == of_network) return "the network's limit";
  if (bytes >= 1024 * 1024 && bytes % (1024 * 1024) == 0) return std::to_string(bytes / (1024 * 1024)) + " MiB";
  if (bytes >= 1024 && bytes % 1024 == 0) return std::to_string(bytes / 1024) + " KiB";
  return std::to_string(bytes) + " bytes";
}

std::string text_of_upper(std::size_t last) {
  return last % 1024 == 1023 ? "less than " + text_of(last + 1) : "up to " + text_of(last);
}

std::string eager_within_the_node(std::size_t bytes) {
  if (bytes <= lln::Route::inject_bytes) return "eager, in one slot of the channel";
  if (bytes < lln::Route::in_parts_from) return "eager, in a cell or in the byte ring of the channel";
  return "the same; the receiver prefetches the first half early";
}

std::string copied(std::size_t bytes, bool mapped, bool busy) {
  const CopyCase message{.bytes = bytes, .readable = true, .mapped = mapped, .runs = true, .busy = busy};
  const LocalCopy copy = message::plan_copy(message, Copying::by_kernel, {});
  const std::string how = mapped ? "" : " by the kernel";
  return copy == LocalCopy::split ? "both ends copy" + how : "the receiver copies" + how;
}

std::string same_process(std::size_t bytes, bool) {
  if (message::plan_send(bytes, false, message::longest_eager(PeerKind::same_process, 0), 0) == Leaving::eager)
    return eager_within_the_node(bytes);
  const std::string idle = copied(bytes, true, false), busy = copied(bytes, true, true);
  return "rendezvous; " + idle + (busy != idle ? ", or the receiver alone while it has sends under way" : "");
}

std::string same_node(std::size_t bytes, bool oversubscribed) {
  if (message::plan_send(bytes, false, message::longest_eager(PeerKind::same_node, 0), 0) == Leaving::eager)
    return eager_within_the_node(bytes);
  if (message::plan_early(bytes, oversubscribed, {})) return "staged by the sender before the CTS";
  const std::string idle = copied(bytes, false, false), busy = copied(bytes, false, true);
  const std::string by_kernel = idle + (busy != idle ? ", or the receiver alone while it has sends under way" : "");
  return "rendezvous; " + (oversubscribed ? by_kernel : "staged, or " + by_kernel + ": the faster one so far");
}

std::string itself(std::size_t bytes, bool) {
  const bool buffered = bytes <= message::longest_eager(PeerKind::self, 0);
  return buffered ? "copied once if the receive is posted, or else buffered"
                  : "copied once, when the receive is posted";
}

std::string other_node(std::size_t bytes, bool) {
  if (message::plan_send(bytes, false, message::longest_eager(PeerKind::other_node, of_network), 0) == Leaving::eager)
    return "eager, if there is credit";
  return "rendezvous; pieces of the limit, or from buffer to buffer where the network offers that and both are "
         "contiguous";
}

struct Row {
  const char* peer;
  std::string (*protocol)(std::size_t bytes, bool oversubscribed);
  bool oversubscribed;
};

// The last length from `from` on that has the same protocol. No protocol comes twice.
std::size_t end_of(const Row& row, std::size_t from) {
  const std::string text = row.protocol(from, row.oversubscribed);
  const auto same = [&](std::size_t bytes) {
    return bytes <= longest && row.protocol(bytes, row.oversubscribed) == text;
  };
  std::size_t last = from, step = 1;
  for (; same(last + step); step *= 2) last += step;
  for (; step != 0; step /= 2)
    if (same(last + step)) last += step;
  return last;
}

void print_protocols() {
  const std::vector<Row> rows{{"the rank itself", itself, false},
                              {"same process, or memory of `-shared-heap`", same_process, false},
                              {"other process of the node", same_node, false},
                              {"the same, with more ranks than cores", same_node, true},
                              {"other node", other_node, false}};
  std::puts("# protocols\n| peer | length | protocol |\n|---|---|---|");
  for (const Row& row : rows) {
    const char* peer = row.peer;
    for (std::size_t from = 1; from <= longest;) {
      const std::size_t last = end_of(row, from);
      const std::string length = last == longest ? (from == 1 ? "any" : "longer") : text_of_upper(last);
      std::printf("| %s | %s | %s |\n", peer, length.c_str(), row.protocol(from, row.oversubscribed).c_str());
      peer = "";
      from = last + 1;
    }
  }
}

const char* text_of(wake::Ring ring) {
  switch (ring) {
    case wake::Ring::none:
      return "";
    case wake::Ring::blocked:
      return "if blocked";
    case wake::Ring::always:
      return "always";
    case wake::Ring::detector:
      return "detector";
  }
  return "";
}

std::string others(const wake::Action& action) {
  if (action.server) return "server, suspended threads";
  if (action.listeners) return "suspended threads";
  if (action.timer == wake::Timer::sending) return "timer to send";
  return action.timer == wake::Timer::polling ? "timer to poll" : "";
}

void print_events() {
  std::puts("# events\n| event | ring | also |\n|---|---|---|");
  for (const wake::Action& action : wake::actions)
    std::printf("| %s | %s | %s |\n", action.happens, text_of(action.ring), others(action).c_str());
}

}  // namespace

int main() {
  print_protocols();
  print_events();
}
