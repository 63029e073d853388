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

bool fail(Problem& problem, const std::string& text) {
  refuse(problem, "%s", text.c_str());
  return false;
}

// Reports a frame's text, or that none came.
bool fail(Problem& problem, const std::optional<Frame>& frame, const char* who) {
  if (frame && frame->kind() == FrameKind::refused) {
    problem.said_elsewhere = true;
    return fail(problem, frame->fields());
  }
  return fail(problem, std::string(who) + " does not answer while the job starts (has it ended?)");
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
  Gathering(Wireup& wireup, const Wishes& wishes, Gathered& gathered, Problem& problem)
      : wireup_(wireup),
        nodes_(std::min(wishes.nodes, wireup.size())),
        ports_(wishes.ports),
        result_(gathered),
        problem_(problem) {}

  bool run() {
    if (wireup_.rank() == 0 && !open_root()) return false;
    if (!wait_for_all() || !learn()) return false;
    const std::string unlike = how_unlike();
    // An unlike rank comes to the fence all the same, or the others would wait for it.
    if (unlike.empty() && !find_agent()) return false;
    if (!wireup_.fence(problem_)) return false;
    if (!unlike.empty()) return tell_unlike(unlike);
    if (!result_.is_agent) return true;
    if (!take_locals()) return false;
    if (static_cast<int>(result_.locals.size()) == wireup_.size()) {
      result_.first_ranks = {0, wireup_.size()};
      return true;
    }
    const bool done = wireup_.rank() == 0 ? gather_nodes() : ask_root();
    if (!done) refuse_all(result_, problem_.text);
    for (LocalRank& local : result_.locals) local.rank = number_of(local.rank, result_.order);
    return done;
  }

 private:
  std::string local_name(int rank) const {
    int node = 0;
    while (even_first_rank(node + 1, nodes_, wireup_.size()) <= rank) ++node;
    return job_.socket + '-' + std::to_string(node);
  }

  bool open_root() {
    job_ = {.kind = own_kind(),
            .host = own_host(),
            .machine = lln::this_machine(),
            .nodes = nodes_,
            .secret = lln::random_secret(),
            .socket = hexadecimal_name(random_word()),
            .addresses = own_addresses()};
    network_ = listen_on_networks(ports_);
    job_.port = network_.port;
    local_ = listen_locally(local_name(0));
    if (!local_) return fail(problem_, "cannot make a local socket to connect the ranks of this node");
    result_.is_agent = true;
    return wireup_.put(key, job_.encode(), problem_);
  }

  bool wait_for_all() {
    const StartWatch watch(wireup_, wireup_.local_ranks());
    return wireup_.fence(problem_);
  }

  bool learn() {
    std::string text;
    if (!wireup_.get(0, key, text, problem_)) return false;
    const std::optional<JobText> job = JobText::decode(text);
    if (!job)
      return fail(problem_,
                  "malformed data of rank 0 of the job: it runs another version of Heddle, or the data are damaged");
    job_ = *job;
    result_.secret = job_.secret;
    return true;
  }

  bool find_agent() {
    if (result_.is_agent) return true;
    const std::string name = local_name(wireup_.rank());
    const std::int64_t deadline = milliseconds_now() + local_limit;
    while (milliseconds_now() < deadline) {
      local_ = listen_locally(name);
      result_.is_agent = static_cast<bool>(local_);
      if (result_.is_agent) return true;
      result_.agent = connect_locally(name);
      if (result_.agent.is_open()) {
        result_.agent.send(local_frame(wireup_.rank()));
        return true;
      }
      usleep(1000);  // the other has the name and does not listen yet
    }
    return fail(problem_, "the ranks of a node cannot connect to each other: they must run as one user");
  }

  // The reason why this rank and rank 0 cannot be in one job; empty: they can.
  std::string how_unlike() const {
    const std::string own = "rank " + std::to_string(wireup_.rank()) + " on " + own_host();
    const std::string other = "rank 0 on " + job_.host;
    if (job_.kind != own_kind())
      return own + " is " + described(own_kind()) + ", and " + other + " is " + described(job_.kind) +
             ": all ranks of a job need the same";
    const int pretended = std::max(nodes_, job_.nodes);
    if (pretended > 1 && job_.machine != lln::this_machine())
      return "HEDDLE_NODES=" + std::to_string(pretended) + " simulates nodes on one machine, but " + own + " and " +
             other + " are on different machines: unset it";
    return {};
  }

  bool tell_unlike(const std::string& text) {
    Connection root = connect_to(job_.addresses, job_.port, job_.secret, milliseconds_now() + local_limit);
    root.send(Frame(FrameKind::refused).add(text));
    problem_.said_elsewhere = root.receive_by(milliseconds_now() + local_limit).has_value();
    return fail(problem_, text);
  }

  bool take_locals() {
    LocalRank self;
    (void)read_local(local_frame(wireup_.rank()), wireup_.size(), self);
    result_.locals.push_back(std::move(self));
    int foreign_count = 0;
    for (Connection link = accept_locally(local_, foreign_count); link.is_open();
         link = accept_locally(local_, foreign_count)) {
      const std::optional<Frame> frame = link.receive_by(milliseconds_now() + local_limit);
      LocalRank local;
      if (!frame || !read_local(*frame, wireup_.size(), local)) return fail(problem_, frame, "a rank of this node");
      local.link = std::move(link);
      result_.locals.push_back(std::move(local));
    }
    local_ = Descriptor();
    if (foreign_count > 0)
      std::fprintf(stderr, "heddle: refused %d processes of another user that tried to join this job\n", foreign_count);
    std::sort(result_.locals.begin(), result_.locals.end(),
              [](const auto& a, const auto& b) { return a.rank < b.rank; });
    return true;
  }

  std::vector<int> own_ranks() const {
    std::vector<int> ranks;
    for (const LocalRank& local : result_.locals) ranks.push_back(local.rank);
    return ranks;
  }

  bool gather_nodes() {
    if (network_.port == 0) return fail(problem_, network_.why);
    result_.nodes.push_back({.host = own_host(), .agent = 0, .ranks = own_ranks(), .link = {}});
    std::string why;
    if (gather_agents(network_.socket, job_.secret, wireup_.size(), result_, why)) return true;
    return fail(problem_, why);
  }

  bool ask_root() {
    if (job_.port == 0) {
      problem_.said_elsewhere = true;
      return fail(problem_, "rank 0 on " + job_.host + " has no TCP port for connections of other nodes");
    }
    result_.root = connect_to(job_.addresses, job_.port, job_.secret, milliseconds_now() + root_limit / 2);
    if (!result_.root.is_open()) {
      return fail(problem_,
                  "node " + own_host() + " cannot reach rank 0 on " + job_.host +
                      " over TCP at any of its addresses (" +
                      std::accumulate(std::next(job_.addresses.begin()), job_.addresses.end(), job_.addresses[0],
                                      [](const auto& a, const auto& b) { return a + ", " + b; }) +
                      "), port " + std::to_string(job_.port) + ": a firewall between the nodes?");
    }
    Frame mine(FrameKind::node);
    mine.add(wireup_.rank()).add(static_cast<std::uint32_t>(result_.locals.size()));
    for (const int rank : own_ranks()) mine.add(rank);
    result_.root.send(mine.add(own_host()));
    const std::optional<Frame> answer = result_.root.receive_by(milliseconds_now() + 2 * root_limit);
    if (!answer || answer->kind() != FrameKind::nodes) return fail(problem_, answer, "rank 0 of the job");
    Fields fields(*answer);
    result_.node = fields.index();
    for (int count = fields.index() + 1; count > 0 && fields.complete(); --count)
      result_.first_ranks.push_back(fields.index());
    while (!fields.rest().empty() && fields.complete()) result_.order.push_back(fields.index());
    if (!fields.complete() || result_.node <= 0 || result_.node >= result_.node_count() ||
        (!result_.order.empty() && result_.order.size() != static_cast<std::size_t>(wireup_.size())))
      return fail(problem_, "malformed data of rank 0 about the nodes of the job");
    return true;
  }

  Wireup& wireup_;
  int nodes_;
  Ports ports_;
  Gathered& result_;
  Problem& problem_;
  JobText job_;
  Descriptor local_;
  Listener network_;
};

}  // namespace

int number_of(int launcher_rank, const std::vector<int>& order) {
  const auto found = std::find(order.begin(), order.end(), launcher_rank);
  return found != order.end() ? static_cast<int>(found - order.begin()) : launcher_rank;
}

bool gather(Wireup& wireup, const Wishes& wishes, Gathered& gathered, Problem& problem) {
  return Gathering(wireup, wishes, gathered, problem).run();
}

void refuse_all(Gathered& gathered, const char* text) {
  const Frame frame = Frame(FrameKind::refused).add(std::string_view(text));
  for (LocalRank& local : gathered.locals) local.link.send(frame);
  for (NodeLink& node : gathered.nodes) node.link.send(frame);
}

}  // namespace heddle::boot
