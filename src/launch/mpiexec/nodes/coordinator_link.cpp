#include "launch/mpiexec/nodes/coordinator_link.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "launch/boot/card.hpp"
#include "launch/boot/launched/sockets.hpp"
#include "launch/mpiexec/limits.hpp"
#include "launch/mpiexec/nodes/beats.hpp"
#include "launch/mpiexec/words.hpp"

namespace heddle::mpiexec {

using boot::Fields;
using boot::Frame;
using boot::FrameKind;

CoordinatorLink::CoordinatorLink() : summons_(read_summons(STDIN_FILENO)), next_beat_(Clock::now()) {
  // A network that has just come up may need some time.
  for (const std::int64_t by = boot::milliseconds_now() + time_to_connect.count();;) {
    link_ = boot::connect_to(summons_.addresses, summons_.port, summons_.secret, by);
    if (link_.is_open() || boot::milliseconds_now() > by) break;
    usleep(100'000);
  }
  if (!link_.is_open())
    throw std::runtime_error("cannot reach the mpiexec that starts the job, over TCP at any of its addresses (" +
                             summons_.addresses.front() + " and others, port " + std::to_string(summons_.port) +
                             "): a firewall between the nodes?");
  set_connection_timeout(link_.fd());
  link_.send(Frame(FrameKind::serve).add(summons_.node));
  std::optional<Frame> plan;
  const std::int64_t by = boot::milliseconds_now() + time_to_gather.count();
  do {
    plan = link_.receive_by(by);
  } while (plan && plan->kind() == FrameKind::beat);
  if (!plan || plan->kind() != FrameKind::plan)
    throw std::runtime_error("the mpiexec that starts the job has ended before the start");
  plan_ = node_plan_of(plan->fields());
}

void CoordinatorLink::enter() const {
  for (const std::string& entry : plan_.environment) {
    const std::string name = name_of(entry);
    if (getenv(name.c_str()) == nullptr || !belongs_to_machine(name))
      setenv(name.c_str(), entry.c_str() + std::min(entry.size(), name.size() + 1), 1);
  }
  if (chdir(plan_.directory.c_str()) != 0)
    throw std::runtime_error("no folder " + plan_.directory + " here, where mpiexec was called on " + plan_.host +
                             ". Use -wdir, and call it from a folder that exists on all nodes");
}

NodeMap CoordinatorLink::nodes() const {
  return {.first_ranks = plan_.first_ranks, .here = summons_.node, .secret = summons_.secret, .key = plan_.key};
}

void CoordinatorLink::use(const Segment& segment, boot::News& news) {
  segment_ = segment;
  news_ = &news;
  sent_.resize(static_cast<std::size_t>(segment.header->size));
}

void CoordinatorLink::send_card(int rank) {
  if (rank < segment_.first_here || rank >= segment_.first_here + segment_.ranks) return;
  const boot::Card& card = boot::cards(segment_.header)[rank];
  std::uint32_t& sent = sent_[static_cast<std::size_t>(rank)];
  const std::uint32_t used = card.used.load(std::memory_order_acquire);
  if (used == sent) return;
  Frame frame(FrameKind::card);
  frame.add(summons_.node).add(rank).add(sent);
  link_.send(frame.add(std::string_view(reinterpret_cast<const char*>(card.entries) + sent, used - sent)));
  sent = used;
}

void CoordinatorLink::say_end(int exit_code) {
  if (!std::exchange(told_end_, true)) link_.send(Frame(FrameKind::end).add(exit_code).add(0));
}

void CoordinatorLink::finish(int exit_code, bool ended_well) {
  link_.send(Frame(FrameKind::finished).add(exit_code).add(ended_well ? 1 : 0));
  for (const std::int64_t by = boot::milliseconds_now() + time_to_finish.count();
       link_.is_open() && link_.waits_for_room() && boot::milliseconds_now() < by;) {
    pollfd writable{link_.fd(), POLLOUT, 0};
    (void)poll(&writable, 1, static_cast<int>(time_to_finish.count()));
    link_.flush();
  }
  link_.end_sending();
}

void CoordinatorLink::add_to(std::vector<pollfd>& wanted) const {
  const short events = link_.waits_for_room() ? POLLIN | POLLOUT : POLLIN;
  wanted.push_back({link_.fd(), events, 0});  // a closed one is skipped
}

std::vector<Order> CoordinatorLink::serve() {
  std::vector<Order> orders;
  link_.flush();
  link_.read();
  while (const std::optional<Frame> frame = link_.next())
    if (const std::optional<Order> order = take(*frame)) orders.push_back(*order);
  if (!link_.is_open() && !std::exchange(cut_off_, true)) orders.push_back({Order::Kind::cut_off, 0});
  return orders;
}

void CoordinatorLink::beat() {
  const Clock::time_point now = Clock::now();
  if (now < next_beat_) return;
  next_beat_ = cut_off_ ? Clock::time_point::max() : now + between_beats;
  link_.send(Frame(FrameKind::beat));
}

std::optional<Order> CoordinatorLink::take(const Frame& frame) {
  Fields fields(frame);
  switch (frame.kind()) {
    case FrameKind::failed:
    case FrameKind::revoked:
    case FrameKind::decided:
    case FrameKind::forgotten:
      news_->take(frame);
      break;
    case FrameKind::card:
      take_card(frame);
      break;
    case FrameKind::agreed: {
      const int word = fields.index();
      const std::uint64_t value = fields.long_number();
      if (fields.complete() && word >= 0 && word < boot::agreed_words)
        segment_.header->agreed[word].store(value, std::memory_order_relaxed);
      break;
    }
    case FrameKind::signal:
      return Order{Order::Kind::signal, fields.index()};
    case FrameKind::end:
      told_end_ = true;
      return Order{Order::Kind::end, fields.index()};
    default:
      break;
  }
  return std::nullopt;
}

void CoordinatorLink::take_card(const Frame& frame) {
  Fields fields(frame);
  (void)fields.index();  // the node that it comes from
  const int rank = fields.index();
  const std::uint32_t offset = fields.number();
  const std::string_view bytes = fields.rest();
  if (!fields.complete() || rank < 0 || rank >= segment_.header->size) return;
  (void)boot::add_bytes(boot::cards(segment_.header)[rank], offset,
                        {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
}

}  // namespace heddle::mpiexec
