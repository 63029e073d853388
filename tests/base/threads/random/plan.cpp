#include "base/threads/random/plan.hpp"

#include <algorithm>

namespace random_program {

using test::Random;

namespace {

// All messages on one communicator from one thread to one thread. Both do their part in the order of the steps, so MPI's order
// between the two decides which receive gets which message, whatever the timing, if no other message matches. To see to that, a
// communicator belongs in each rank either
//   - to one flow alone: then its receives may be for any source and any tag, or
//   - to all flows, each with tags of its own: then they may be for any source.
class Flows {
 public:
  Flows(int ranks, int threads, Random& random) : ranks_(ranks), threads_(threads) {
    for (int i = 0; i < Plan::comms * ranks; ++i) {
      owners_.push_back({random.one_in(2), {random.below(ranks), random.below(threads)}, random.below(threads)});
    }
  }
  bool alone(int comm, int to) const { return owner(comm, to).alone; }
  // True if this flow exists.
  bool allows(int comm, const Actor& from, const Actor& to) const {
    const Owner& o = owner(comm, to.rank);
    return !o.alone || (o.from == from && o.thread == to.thread);
  }
  // The first of the eight tags of a flow.
  int tags(const Actor& from, const Actor& to) const {
    return ((from.rank * threads_ + from.thread) * threads_ + to.thread) * 8;
  }
  // Makes a flow that exists of one that may not.
  void draw(int comm, Actor& from, Actor& to) const {
    const Owner& o = owner(comm, to.rank);
    if (!o.alone) return;
    from = o.from;
    to.thread = o.thread;
  }

 private:
  struct Owner {
    bool alone;
    Actor from;
    int thread;
  };
  const Owner& owner(int comm, int to) const { return owners_[static_cast<std::size_t>(comm * ranks_ + to)]; }

  int ranks_, threads_;
  std::vector<Owner> owners_;
};

template <class How>
How any(Random& random) {
  return static_cast<How>(random.below(static_cast<int>(How::last)));
}

int size_of(Random& random) {
  if (random.one_in(8)) return test::any_size(random);
  return random.below(random.one_in(4) ? 20000 : 300);
}

Message make_message(int comm, const Actor& from, const Actor& to, const Flows& flows, Random& random) {
  Message m;
  m.comm = comm;
  m.tag = flows.tags(from, to) + random.below(3);
  m.bytes = size_of(random);
  m.key = random.next();
  m.send = any<Send>(random);
  m.recv = any<Recv>(random);
  m.any_source = random.one_in(2);
  m.any_tag = flows.alone(comm, to.rank) && random.one_in(2);
  // A thread that blocks in a send to itself must have posted the receive.
  if (from == to && blocks(m.recv) && blocks(m.send) && !buffers(m.send)) m.send = Send::isend;
  return m;
}

// Which message each receive gets: a message goes to the first receive that is free and matches it. -1: none.
std::vector<int> match(const std::vector<Message>& messages, const std::vector<int>& posted,
                       const std::vector<bool>& any_tag) {
  std::vector<int> got(posted.size(), -1);
  for (std::size_t m = 0; m < messages.size(); ++m) {
    for (std::size_t r = 0; r < posted.size(); ++r) {
      if (got[r] >= 0) continue;
      if (!any_tag[r] && messages[static_cast<std::size_t>(posted[r])].tag != messages[m].tag) continue;
      got[r] = static_cast<int>(m);
      break;
    }
  }
  return got;
}

// Sends and receives that are all under way together, the receives posted in an order of their own. Receive r names the
// tag of message posted[r], or any; what it gets is what `match` says. While a receive that names a tag gets nothing,
// because its message went to one for any tag, it is made one for any tag itself.
void make_burst(Step& step, int comm, const Flows& flows, Random& random) {
  const int n = 2 + random.below(8);
  std::vector<int> posted;
  for (int i = 0; i < n; ++i) {
    Message m = make_message(comm, step.from, step.to, flows, random);
    m.send = random.one_in(3) ? Send::issend : Send::isend;
    m.recv = random.one_in(3) ? Recv::recv_init : Recv::irecv;
    step.messages.push_back(m);
    posted.insert(posted.begin() + random.below(i + 1), i);
  }
  std::vector<bool> any_tag;
  for (int i = 0; i < n; ++i) any_tag.push_back(flows.alone(comm, step.to.rank) && random.one_in(3));
  step.order = match(step.messages, posted, any_tag);
  for (auto none = std::ranges::find(step.order, -1); none != step.order.end();
       none = std::ranges::find(step.order, -1)) {
    any_tag[static_cast<std::size_t>(none - step.order.begin())] = true;
    step.order = match(step.messages, posted, any_tag);
  }
  // A receive is described by the message that it gets, which has the tag that it names.
  for (std::size_t r = 0; r < posted.size(); ++r) {
    step.messages[static_cast<std::size_t>(step.order[r])].any_tag = any_tag[r];
  }
}

}  // namespace

Plan::Plan(std::uint64_t seed, int ranks) {
  Random random(seed, ranks);
  threads = test::team_size(1 + random.below(usual_threads));
  pool_receives.assign(static_cast<std::size_t>(ranks), std::vector<int>(static_cast<std::size_t>(threads)));
  const Flows flows(ranks, threads, random);
  const auto any_actor = [&] { return Actor{random.below(ranks), random.below(threads)}; };
  for (int i = 60 + 20 * threads; i > 0; --i) {
    Step step;
    step.kind = static_cast<Step::Kind>(random.below(Step::kinds));
    if (random.one_in(2)) step.kind = Step::message;
    step.from = any_actor();
    step.to = any_actor();
    step.seed = random.next();
    const int comm = random.below(comms);
    if (step.kind <= Step::burst) flows.draw(comm, step.from, step.to);
    switch (step.kind) {
      case Step::exchange:
        if (flows.allows(comm, step.to, step.from)) {
          step.messages = {make_message(comm, step.from, step.to, flows, random),
                           make_message(comm, step.to, step.from, flows, random)};
          if (step.from == step.to) step.messages.pop_back();
          step.nonblocking = random.one_in(2);
          break;
        }
        step.kind = Step::message;
        [[fallthrough]];
      case Step::message:
        step.messages = {make_message(comm, step.from, step.to, flows, random)};
        break;
      case Step::burst:
        make_burst(step, comm, flows, random);
        break;
      case Step::collective:
        step.what = any<Collective>(random);
        step.nonblocking = random.one_in(2);
        break;
      case Step::pool:
        step.messages = {make_message(comm, step.from, step.to, flows, random)};
        step.messages[0].bytes = std::min(step.messages[0].bytes, largest_of_pool);
        step.messages[0].tag = static_cast<int>(steps.size());
        if (blocks(step.messages[0].send)) step.messages[0].send = Send::issend;
        ++pool_receives[static_cast<std::size_t>(step.to.rank)][static_cast<std::size_t>(step.to.thread)];
        break;
      case Step::kinds:
        break;
    }
    steps.push_back(std::move(step));
  }
}

std::size_t Plan::buffered(int rank) const {
  std::size_t bytes = 0;
  for (const Step& step : steps) {
    if (step.from.rank != rank) continue;
    for (const Message& m : step.messages)
      if (buffers(m.send)) bytes += static_cast<std::size_t>(m.bytes) + MPI_BSEND_OVERHEAD + 64;
  }
  return bytes + 1024;
}

}  // namespace random_program
