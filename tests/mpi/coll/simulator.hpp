// Carries out the schedules of all members of a communicator in one thread, with messages that come as badly as the
// standard allows: a random member moves next; a send's data is read at once (eager) or only when its receive
// takes it (rendezvous), and then the sender's fence has to wait. So a missing fence shows as wrong data, a wrong order
// as wrong data or truncation, and a circular wait as a deadlock, all the same every time for the same seed.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "mpi/coll/schedule.hpp"
#include "objects/op/op.hpp"

namespace heddle::coll {

class Simulator {
 public:
  explicit Simulator(unsigned seed) : random_(seed) {}
  // A member: its number among all processes, and its schedule.
  void add(int process, const Schedule& schedule) { members_.push_back({process, &schedule, 0, {}, false}); }

  // Empty if all members finished and no message is left over; else what went wrong.
  std::string run() {
    std::size_t left = members_.size();
    while (left > 0) {
      bool moved = false;
      std::shuffle(members_.begin(), members_.end(), random_);
      for (Member& m : members_) {
        while (!m.finished && step(m)) {
          moved = true;
          if (random_() % 3 == 0) break;
        }
        if (!problem_.empty()) return problem_;
        if (m.finished && !m.counted) {
          m.counted = true;
          --left;
        }
      }
      moved |= deliver_some();
      if (!problem_.empty()) return problem_;
      if (!moved && !deliver_all()) return describe_deadlock();
      if (!problem_.empty()) return problem_;
    }
    for (auto& [key, link] : links_) {
      if (!link.sends.empty() || !link.recvs.empty()) return "a message or a receive is left over";
    }
    return {};
  }

 private:
  struct Operation {
    BufferView piece;
    std::vector<std::byte> data;  // of an eager send
    bool eager = false;
    bool done = false;
  };
  struct Member {
    int process;
    const Schedule* schedule;
    std::size_t position;
    std::vector<Operation*> pending;
    bool finished;
    bool counted = false;
  };
  struct Link {
    std::deque<Operation*> sends, recvs;
  };
  using Key = std::tuple<Context, int, int, int>;  // communicator, from, to (process numbers), tag

  bool fence_passed(Member& m) {
    if (!std::all_of(m.pending.begin(), m.pending.end(), [](Operation* o) { return o->done; })) return false;
    m.pending.clear();
    return true;
  }

  bool step(Member& m) {
    const auto& steps = m.schedule->steps();
    if (m.position == steps.size()) return m.finished = fence_passed(m);
    const Step& s = steps[m.position];
    switch (s.kind) {
      case Step::Kind::fence:
        if (!fence_passed(m)) return false;
        break;
      case Step::Kind::copy:
        copy(s.a, s.b);
        break;
      case Step::Kind::reduce:
        reduce_local(*m.schedule->op(), s.a.data, s.b.data, s.b.count, *s.b.type);
        break;
      default:
        start(m, s);
    }
    ++m.position;
    return true;
  }

  void start(Member& m, const Step& s) {
    const Channel& channel = m.schedule->channel(s.channel);
    const int peer = channel.comm->world_rank(s.peer);
    const bool sends = s.kind == Step::Kind::send;
    operations_.push_back(std::make_unique<Operation>());
    Operation& o = *operations_.back();
    o.piece = s.a;
    if (sends && random_() % 2 == 0) {
      o.eager = o.done = true;
      o.data.resize(s.a.bytes());
      pack(*s.a.type, s.a.data, s.a.count, 0, o.data.data(), o.data.size());
    }
    m.pending.push_back(&o);
    const int tag = channel.tag + s.lane;
    Link& link = sends ? links_[{channel.comm->context, m.process, peer, tag}]
                       : links_[{channel.comm->context, peer, m.process, tag}];
    (sends ? link.sends : link.recvs).push_back(&o);
  }

  bool deliver(Link& link) {
    if (link.sends.empty() || link.recvs.empty()) return false;
    Operation& from = *link.sends.front();
    Operation& to = *link.recvs.front();
    link.sends.pop_front();
    link.recvs.pop_front();
    if (from.piece.bytes() > to.piece.bytes()) problem_ = "truncated";
    if (from.eager) {
      unpack(*to.piece.type, to.piece.data, to.piece.count, 0, from.data.data(),
             std::min(from.data.size(), to.piece.bytes()));
    } else {
      copy(from.piece, to.piece);
    }
    from.done = to.done = true;
    return true;
  }
  bool deliver_some() {
    bool moved = false;
    for (auto& [key, link] : links_) {
      if (random_() % 3 == 0) moved |= deliver(link);
    }
    return moved;
  }
  bool deliver_all() {
    bool moved = false;
    for (auto& [key, link] : links_) moved |= deliver(link);
    return moved;
  }

  std::string describe_deadlock() {
    std::string text = "deadlock:";
    for (Member& m : members_) {
      if (!m.finished) {
        text += " process " + std::to_string(m.process) + " at step " + std::to_string(m.position) + " of " +
                std::to_string(m.schedule->steps().size());
      }
    }
    return text;
  }

  std::mt19937 random_;
  std::vector<Member> members_;
  std::map<Key, Link> links_;
  std::vector<std::unique_ptr<Operation>> operations_;
  std::string problem_;
};

}  // namespace heddle::coll
