#include "launch/boot/launched/gather.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "launch/boot/cpu_mask.hpp"
#include "launch/boot/job.hpp"
#include "launch/boot/launched/job_text.hpp"
#include "launch/boot/launched/root.hpp"
#include "launch/boot/launched/sockets.hpp"
#include "launch/boot/launched/start_watch.hpp"
#include "network/machine.hpp"

namespace heddle::boot {
namespace {

constexpr char key[] = "heddle-job";
constexpr std::int64_t local_limit = 10'000;  // milliseconds for steps of processes of one machine

// A refusal's text, or that no other frame came.
Failure no_answer(const std::optional<Frame>& frame, const char* peer) {
  if (frame && frame->kind() == FrameKind::refused) return {.text = frame->fields(), .said_elsewhere = true};
  return refuse("%s does not answer while the job starts (has it ended?)", peer);
}

std::string hexadecimal_name(std::uint64_t word) {
  char text[40];
  std::snprintf(text, sizeof text, "heddle-%016llx", static_cast<unsigned long long>(word));
  return text;
}

Frame local_frame(int rank) {
  Frame frame(FrameKind::local);
  frame.add(rank).add(static_cast<int>(syscall(SYS_getpid))).add(static_cast<int>(getpid()));
  for (const int cpu : CpuMask::allowed()) frame.add(cpu);
  return frame;
}

bool read_local(const Frame& frame, int size, LocalRank& local) {
  Fields fields(frame);
  local.rank = fields.index();
  local.process = fields.index();
  local.pid = fields.index();
  while (!fields.rest().empty() && fields.complete()) local.cpus.push_back(fields.index());
  return frame.kind() == FrameKind::local && fields.complete() && local.rank >= 0 && local.rank < size;
}

class Gathering {
 public:
  Gathering(Wireup& wireup, const Wishes& wishes, Gathered& gathered)
      : wireup_(wireup), nodes_(std::min(wishes.nodes, wireup.size())), ports_(wishes.ports), result_(gathered) {}

  Result<void> run() {
    if (wireup_.rank() == 0)
      if (Result<void> opened = open_root(); !opened) return opened;
    if (Result<void> waited = wait_for_all(); !waited) return waited;
    if (Result<void> learned = learn(); !learned) return learned;
    const Result<void> alike = check_alike();
    // An unlike rank comes to the fence all the same, or the others would wait for it.
    if (alike)
      if (Result<void> found = find_agent(); !found) return found;
    if (Result<void> fenced = wireup_.fence(); !fenced) return fenced;
    if (!alike) return tell_unlike(alike.failure().text);
    if (!result_.is_agent) return {};
    if (Result<void> taken = take_locals(); !taken) return taken;
    if (static_cast<int>(result_.locals.size()) == wireup_.size()) {
      result_.first_ranks = {0, wireup_.size()};
      return {};
    }
    Result<void> done = wireup_.rank() == 0 ? gather_nodes() : ask_root();
    if (!done) refuse_all(result_, done.failure().text);
    for (LocalRank& local : result_.locals) local.rank = number_of(local.rank, result_.order);
    return done;
  }

 private:
  std::string local_name(int rank) const {
    int node = 0;
    while (even_first_rank(node + 1, nodes_, wireup_.size()) <= rank) ++node;
    return job_.socket + '-' + std::to_string(node);
  }

  Result<void> open_root() {
    job_ = {.kind = own_kind(),
            .host = own_host(),
            .machine = lln::this_machine(),
            .nodes = nodes_,
            .secret = lln::random_secret(),
            .socket = hexadecimal_name(random_word()),
            .addresses = own_addresses()};
    network_ = listen_on_networks(ports_);
    job_.port = network_ ? network_->port : 0;
    local_ = listen_locally(local_name(0));
    if (!local_) return refuse("cannot make a local socket to connect the ranks of this node");
    result_.is_agent = true;
    return wireup_.put(key, job_.encode());
  }

  Result<void> wait_for_all() {
    const StartWatch watch(wireup_, wireup_.local_ranks());
    return wireup_.fence();
  }

  Result<void> learn() {
    const Result<std::string> text = wireup_.get(0, key);
    if (!text) return text.failure();
    const std::optional<JobText> job = JobText::decode(*text);
    if (!job)
      return refuse("malformed data of rank 0 of the job: it runs another version of Heddle, or the data are damaged");
    job_ = *job;
    result_.secret = job_.secret;
    return {};
  }

  Result<void> find_agent() {
    if (result_.is_agent) return {};
    const std::string name = local_name(wireup_.rank());
    const std::int64_t deadline = milliseconds_now() + local_limit;
    while (milliseconds_now() < deadline) {
      local_ = listen_locally(name);
      result_.is_agent = static_cast<bool>(local_);
      if (result_.is_agent) return {};
      result_.agent = connect_locally(name);
      if (result_.agent.is_open()) {
        result_.agent.send(local_frame(wireup_.rank()));
        return {};
      }
      usleep(1000);  // the other has the name and does not listen yet
    }
    return refuse("the ranks of a node cannot connect to each other: they must run as one user");
  }

  // A failure: this rank and rank 0 cannot be in one job.
  Result<void> check_alike() const {
    const std::string own = "rank " + std::to_string(wireup_.rank()) + " on " + own_host();
    const std::string other = "rank 0 on " + job_.host;
    if (job_.kind != own_kind())
      return Failure{.text = own + " is " + described(own_kind()) + ", and " + other + " is " + described(job_.kind) +
                             ": all ranks of a job need the same"};
    const int pretended = std::max(nodes_, job_.nodes);
    if (pretended > 1 && job_.machine != lln::this_machine())
      return refuse("HEDDLE_NODES=%d simulates nodes on one machine, but %s and %s are on different machines: unset it",
                    pretended, own.c_str(), other.c_str());
    return {};
  }

  Failure tell_unlike(const std::string& text) {
    Connection root = connect_to(job_.addresses, job_.port, job_.secret, milliseconds_now() + local_limit);
    root.send(Frame(FrameKind::refused).add(text));
    return {.text = text, .said_elsewhere = root.receive_by(milliseconds_now() + local_limit).has_value()};
  }

  Result<void> take_locals() {
    LocalRank self;
    (void)read_local(local_frame(wireup_.rank()), wireup_.size(), self);
    result_.locals.push_back(std::move(self));
    int foreign_count = 0;
    for (Connection link = accept_locally(local_, foreign_count); link.is_open();
         link = accept_locally(local_, foreign_count)) {
      const std::optional<Frame> frame = link.receive_by(milliseconds_now() + local_limit);
      LocalRank local;
      if (!frame || !read_local(*frame, wireup_.size(), local)) return no_answer(frame, "a rank of this node");
      local.link = std::move(link);
      result_.locals.push_back(std::move(local));
    }
    local_ = Descriptor();
    if (foreign_count > 0)
      std::fprintf(stderr, "heddle: refused %d processes of another user that tried to join this job\n", foreign_count);
    std::sort(result_.locals.begin(), result_.locals.end(),
              [](const auto& a, const auto& b) { return a.rank < b.rank; });
    return {};
  }

  std::vector<int> own_ranks() const {
    std::vector<int> ranks;
    for (const LocalRank& local : result_.locals) ranks.push_back(local.rank);
    return ranks;
  }

  Result<void> gather_nodes() {
    if (!network_) return network_;
    result_.nodes.push_back({.host = own_host(), .agent = 0, .ranks = own_ranks(), .link = {}});
    return gather_agents(network_->socket, job_.secret, wireup_.size(), result_);
  }

  Result<void> ask_root() {
    if (job_.port == 0)
      return Failure{.text = "rank 0 on " + job_.host + " has no TCP port for connections of other nodes",
                     .said_elsewhere = true};
    result_.root = connect_to(job_.addresses, job_.port, job_.secret, milliseconds_now() + root_limit / 2);
    if (!result_.root.is_open()) {
      const std::string addresses =
          std::accumulate(std::next(job_.addresses.begin()), job_.addresses.end(), job_.addresses[0],
                          [](const auto& a, const auto& b) { return a + ", " + b; });
      return refuse(
          "node %s cannot reach rank 0 on %s over TCP at any of its addresses (%s), port %d: a firewall between "
          "the nodes?",
          own_host().c_str(), job_.host.c_str(), addresses.c_str(), job_.port);
    }
    Frame mine(FrameKind::node);
    mine.add(wireup_.rank()).add(static_cast<std::uint32_t>(result_.locals.size()));
    for (const int rank : own_ranks()) mine.add(rank);
    result_.root.send(mine.add(own_host()));
    const std::optional<Frame> answer = result_.root.receive_by(milliseconds_now() + 2 * root_limit);
    if (!answer || answer->kind() != FrameKind::nodes) return no_answer(answer, "rank 0 of the job");
    Fields fields(*answer);
    result_.node = fields.index();
    for (int count = fields.index() + 1; count > 0 && fields.complete(); --count)
      result_.first_ranks.push_back(fields.index());
    while (!fields.rest().empty() && fields.complete()) result_.order.push_back(fields.index());
    if (!fields.complete() || result_.node <= 0 || result_.node >= result_.node_count() ||
        (!result_.order.empty() && result_.order.size() != static_cast<std::size_t>(wireup_.size())))
      return refuse("malformed data of rank 0 about the nodes of the job");
    return {};
  }

  Wireup& wireup_;
  int nodes_;
  Ports ports_;
  Gathered& result_;
  JobText job_;
  Descriptor local_;
  Result<Listener> network_ = Listener();
};

}  // namespace

int number_of(int launcher_rank, const std::vector<int>& order) {
  const auto found = std::find(order.begin(), order.end(), launcher_rank);
  return found != order.end() ? static_cast<int>(found - order.begin()) : launcher_rank;
}

Result<Gathered> gather(Wireup& wireup, const Wishes& wishes) {
  Gathered gathered;
  const Result<void> done = Gathering(wireup, wishes, gathered).run();
  if (!done) return done.failure();
  return gathered;
}

void refuse_all(Gathered& gathered, std::string_view text) {
  const Frame frame = Frame(FrameKind::refused).add(text);
  for (LocalRank& local : gathered.locals) local.link.send(frame);
  for (NodeLink& node : gathered.nodes) node.link.send(frame);
}

}  // namespace heddle::boot
