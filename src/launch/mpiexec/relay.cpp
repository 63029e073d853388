#include "launch/mpiexec/relay.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "base/threads/signals_blocked.hpp"
#include "launch/boot/foreign_launcher.hpp"
#include "launch/boot/launched/thread.hpp"
#include "launch/mpiexec/limits.hpp"
#include "launch/mpiexec/options.hpp"

namespace heddle::mpiexec {

using boot::PmiMessage;

Relay::Relay(int ranks, int each) : all_(ranks) {
  {
    const threads::SignalsBlocked blocked;  // PMIx has threads of its own
    Result<std::unique_ptr<boot::Wireup>> found = boot::find_launcher();
    if (!found) throw UsageError(found.failure().text);
    launcher_ = *std::move(found);
  }
  const int parts = launcher_ == nullptr ? 1 : launcher_->size(), part = launcher_ == nullptr ? 0 : launcher_->rank();
  const int needed = (ranks + each - 1) / each;
  if (parts != needed)
    throw UsageError("-join " + std::to_string(each) + ": " + std::to_string(ranks) + " ranks are " +
                     std::to_string(needed) + " times as many, and a launcher has started this mpiexec " +
                     (launcher_ == nullptr ? "nowhere else" : std::to_string(parts) + " times") +
                     "; have it start as many, one on each node (-host with -ranks threads does)");
  first_ = part * each;
  for (int rank = first_; rank < std::min(first_ + each, ranks); ++rank) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw std::system_error(errno, std::generic_category(), "cannot make a socket for a rank");
    peers_.push_back({.ours = boot::Descriptor(ends[0]), .theirs = boot::Descriptor(ends[1])});
  }
}

void Relay::serve(boot::RankRecord* records) {
  records_ = records;
  for (Peer& peer : peers_) peer.theirs = boot::Descriptor();  // the ranks have them now
  boot::start_thread([this] { run(); });
}

void Relay::run() {
  while (true) {
    std::vector<pollfd> wanted;
    {
      const std::lock_guard guard(mutex_);
      for (const Peer& peer : peers_) wanted.push_back({peer.ours.get(), POLLIN, 0});
    }
    if (std::ranges::all_of(wanted, [](const pollfd& one) { return one.fd < 0; })) return;
    if (poll(wanted.data(), wanted.size(), -1) < 0 && errno != EINTR) return;
    const std::lock_guard guard(mutex_);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i].revents != 0) read(peers_[i]);
  }
}

// In a fence no rank has a request.
void Relay::catch_up(int rank) {
  const std::unique_lock lock(mutex_, longest_turn);
  if (lock.owns_lock()) read(peers_[static_cast<std::size_t>(rank)]);
}

void Relay::read(Peer& peer) {
  char buffer[4096];
  const ssize_t got = recv(peer.ours.get(), buffer, sizeof buffer, MSG_DONTWAIT);
  if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EBADF)) return;
  if (got > 0) peer.bytes.append(buffer, static_cast<std::size_t>(got));
  bool broken = got <= 0;
  while (!broken) {
    const std::optional<PmiMessage> request = PmiMessage::take(peer.bytes, boot::PmiVersion::one, broken);
    if (!request) break;
    answer(peer, *request);
  }
  if (broken) peer.ours = boot::Descriptor();  // mpiexec detects how a rank ends
}

void Relay::answer(Peer& peer, const PmiMessage& request) {
  const auto say = [&](PmiMessage& message, const Result<void>& result = {}) {
    message.add("rc", result ? "0" : "-1");
    if (!result) {
      std::string text = result.failure().text;
      std::ranges::replace(text, ' ', '_');  // a value is one word
      message.add("msg", text);
    }
    const std::string text = message.encode(boot::PmiVersion::one);
    (void)!send(peer.ours.get(), text.data(), text.size(), MSG_NOSIGNAL);
  };
  const std::string_view what = request.command();
  if (what == "init") {
    say(PmiMessage("response_to_init").add("pmi_version", "1").add("pmi_subversion", "1"));
  } else if (what == "get_my_kvsname") {
    say(PmiMessage("my_kvsname").add("kvsname", launcher_->job_name()));
  } else if (what == "get_appnum") {
    say(PmiMessage("appnum").add("appnum", std::to_string(launcher_->appnum())));
  } else if (what == "get_universe_size") {
    say(PmiMessage("universe_size").add("size", std::to_string(launcher_->universe_size())));
  } else if (what == "put") {
    PmiMessage put("put_result");
    say(put, launcher_->put(std::string(request.at("key")), std::string(request.at("value"))));
  } else if (what == "get" && request.at("key") == "PMI_process_mapping") {
    say(PmiMessage("get_result").add("value", ""), Failure{});  // the launcher's is of mpiexecs
  } else if (what == "get") {
    const Result<std::string> text = launcher_->get(0, std::string(request.at("key")));  // only rank 0 puts something
    say(PmiMessage("get_result").add("value", text ? *text : ""), text);
  } else if (what == "barrier_in") {
    peer.waits = true;
    if (std::ranges::all_of(peers_, &Peer::waits)) fence();
  } else if (what == "finalize") {
    PmiMessage done("finalize_ack");
    say(done);
  } else if (what == "abort") {
    abort(peer, request.number("exitcode").value_or(1));
  }
}

// Meanwhile there are no requests: all wait.
void Relay::fence() {
  const Result<void> done = launcher_->fence();
  all_initialized_.store(static_cast<bool>(done));
  if (!done) fprintf(stderr, "mpiexec: %s\n", done.failure().text.c_str());
  const std::string text = PmiMessage("barrier_out").encode(boot::PmiVersion::one);
  for (Peer& peer : peers_) {
    peer.waits = false;
    if (done)
      (void)!send(peer.ours.get(), text.data(), text.size(), MSG_NOSIGNAL);
    else
      peer.ours = boot::Descriptor();  // the rank ends
  }
}

// It has printed the reason.
void Relay::abort(const Peer& peer, int code) {
  boot::RankRecord& record = records_[&peer - peers_.data()];
  record.abort_code.store(code);
  record.state.store(boot::RankState::aborted);
  launcher_->abort(code, "");
}

void Relay::finish() {
  if (launcher_ != nullptr) launcher_->finalize();
}

}  // namespace heddle::mpiexec
