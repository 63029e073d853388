// The agent: the rank of a node that communicates for it. It passes the requests of the node's ranks on to the root,
// and writes the answers into the node's segment; and it notices when a rank or another node is gone. A thread that
// blocks in poll().
//
// Nodes are a star around the root, rank 0's. The traffic is small: addresses of peers, once for each node that
// communicates with them, and the few words that all agree on. Where a job has one node, agents only watch.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "launch/boot/job.hpp"
#include "launch/boot/launched/gather.hpp"
#include "launch/boot/launched/member.hpp"

namespace heddle::boot {

class Agent {
 public:
  // `seconds`: the job ends after this time; 0: never.
  Agent(Gathered gathered, JobHeader& header, int rank, Ending& ending, int seconds = 0);
  void start();

  // Its rank has ended, and closes its link to it next: then the others see that the agent is gone.
  void stop() { stopped_.store(true); }
  // For the agent's own process, which exits after a successful end: returns when no rank needs it any more.
  void wait_for_others();
  // True if all have been told that the job ends.
  bool has_told_end() const { return told_end_.load(std::memory_order_acquire); }
  // Or that its process may go.
  bool has_told_left() const { return told_left_.load(std::memory_order_acquire); }

 private:
  static constexpr std::int64_t never = INT64_MAX;  // a time

  struct Subscription {
    int node;
    std::uint32_t sent;  // bytes of the card sent so far
  };

  void run();
  void poll_all();
  void read_local(LocalRank& local);
  void read_node(int node, Connection& link);
  void take_from_node(int node, Connection& link);

  void from_local(const LocalRank& local, const Frame& frame);
  void from_node(int node, const Frame& frame);
  void answer_agree(const Frame& frame, Connection& to);
  void take_agreed(const Frame& frame);
  void ask_for_card(int peer, int node);
  void send_card(int peer, Subscription& subscription);
  void end_all(const Frame& end, bool tell_root);
  void report(const Frame& frame);
  void time_over();

  void local_is_gone(const LocalRank& local);
  void node_is_gone(int node, const Connection& link);
  void beat();
  void lose(const char* text, int patience, int time_of_launcher = Ending::time_of_launcher);
  bool has_other_nodes() const { return header_.nodes > 1; }
  void count_others();

  // The connection that leads to that node.
  Connection& towards(int node) { return is_root_ ? at_.nodes[static_cast<std::size_t>(node)].link : at_.root; }
  bool is_rank(int rank) const { return rank >= 0 && rank < header_.size; }
  bool is_node(int node) const { return node >= 0 && node < header_.nodes; }
  int node_of(int rank) const;

  Gathered at_;
  JobHeader& header_;
  Ending& ending_;
  int rank_;
  bool is_root_;
  bool ending_job_ = false;
  std::int64_t next_beat_ = 0;  // when this node next sends a beat
  std::vector<int> unheard_;    // by node: beats sent since its last frame
  int seconds_;
  std::int64_t time_over_at_ = never;                // of the root
  std::int64_t next_report_ = 0;                     // a signal to all ranks causes one report
  std::set<int> asked_;                              // peers of other nodes whose cards are requested, or here
  std::map<int, std::vector<Subscription>> wanted_;  // cards of this node's ranks, by rank
  std::set<int> left_;                               // nodes whose agents may close their connections
  std::atomic<bool> stopped_{false};
  std::atomic<bool> told_end_{false};
  std::atomic<bool> told_left_{false};
  std::mutex mutex_;
  std::condition_variable fewer_;
  int others_ = 0;  // ranks that may still need this agent
};

}  // namespace heddle::boot
