#include "launch/boot/pmi/pmi_wireup.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "launch/boot/pmi/process_mapping.hpp"

namespace heddle::boot {
namespace {

Failure bad_server(const char* what) { return refuse("the launcher offers PMI (PMI_FD), but %s", what); }

std::optional<int> number_in(const char* text) {
  if (text == nullptr) return std::nullopt;
  int value = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
  return error == std::errc() && *end == '\0' && value >= 0 ? std::optional(value) : std::nullopt;
}

std::int64_t seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

std::string text_of(PmiVersion version) { return std::to_string(static_cast<int>(version)); }

}  // namespace

Result<std::unique_ptr<Wireup>> PmiWireup::open(const char* descriptor) {
  const std::optional<int> fd = number_in(descriptor);
  struct stat what {};
  if (!fd || fstat(*fd, &what) != 0 || !S_ISSOCK(what.st_mode))
    return refuse(
        "PMI_FD=%.20s is not an open socket: a wrapper between the launcher and this program may have closed it",
        descriptor);
  fcntl(*fd, F_SETFD, FD_CLOEXEC);  // a child of ours is no rank of this job
  std::unique_ptr<PmiWireup> wireup(new PmiWireup(*fd));
  if (const Result<void> begun = wireup->begin(); !begun) return begun.failure();
  if (wireup->size_ < 1 || wireup->rank_ < 0 || wireup->rank_ >= wireup->size_)
    return refuse("invalid answer of the launcher over PMI: rank %d of %d", wireup->rank_, wireup->size_);
  return wireup;
}

PmiWireup::~PmiWireup() {
  if (fd_ >= 0) close(fd_);
}

// PMI-1 is tried first: all support it.
Result<void> PmiWireup::begin() {
  Result<int> chosen = propose(PmiVersion::one);
  if (!chosen) return chosen;
  if (*chosen == 1) return begin_one();
  chosen = propose(PmiVersion::two);
  if (!chosen) return chosen;
  if (*chosen != 2) return bad_server("neither version 1 nor 2");
  version_ = PmiVersion::two;
  return begin_two();
}

Result<int> PmiWireup::propose(PmiVersion version) {
  PmiMessage request("init");
  request.add("pmi_version", text_of(version)).add("pmi_subversion", version == PmiVersion::one ? "1" : "0");
  if (const Result<void> sent = send(request); !sent) return sent.failure();
  const Result<PmiMessage> answer = receive(answer_limit);
  if (!answer) return answer.failure();
  if (answer->command() != "response_to_init") return bad_server("it does not answer as a PMI server does");
  return answer->succeeded() ? answer->number("pmi_version").value_or(0) : 0;
}

Result<void> PmiWireup::begin_one() {
  const std::optional<int> rank = number_in(std::getenv("PMI_RANK")), size = number_in(std::getenv("PMI_SIZE"));
  if (!rank || !size) return bad_server("PMI_RANK and PMI_SIZE do not give this process's rank");
  rank_ = *rank;
  size_ = *size;
  Result<PmiMessage> answer = ask(PmiMessage("get_my_kvsname"), "my_kvsname");
  if (!answer) return answer;
  space_ = answer->at("kvsname");
  answer = ask(PmiMessage("get_appnum"), "appnum");
  if (!answer) return answer;
  appnum_ = std::max(0, answer->number("appnum").value_or(0));
  answer = ask(PmiMessage("get_universe_size"), "universe_size");
  if (!answer) return answer;
  universe_size_ = std::max(0, answer->number("size").value_or(0));
  return {};
}

Result<void> PmiWireup::begin_two() {
  const char* const job = std::getenv("PMI_JOBID");
  const char* const rank = std::getenv("PMI_RANK");
  space_ = job != nullptr ? job : "";
  PmiMessage request("fullinit");
  if (!space_.empty()) request.add("pmijobid", space_);  // Hydra has none, and takes no empty one
  request.add("pmirank", rank != nullptr ? rank : "0").add("threaded", "FALSE");
  Result<PmiMessage> answer = ask(request, "fullinit-response");
  if (!answer) return answer;
  rank_ = answer->number("rank").value_or(-1);
  size_ = answer->number("size").value_or(0);
  appnum_ = std::max(0, answer->number("appnum").value_or(0));
  if (!answer->at("pmijobid").empty()) space_ = answer->at("pmijobid");
  PmiMessage universe("info-getjobattr");
  universe.add("key", "universeSize");
  answer = ask(universe, "info-getjobattr-response");
  if (!answer) return answer;
  if (answer->at("found") == "TRUE") universe_size_ = std::max(0, answer->number("value").value_or(0));
  return {};
}

Result<void> PmiWireup::put(const std::string& key, const std::string& text) {
  if (version_ == PmiVersion::one) {
    PmiMessage request("put");
    request.add("kvsname", space_).add("key", key).add("value", text);
    return ask(request, "put_result");
  }
  PmiMessage request("kvs-put");
  request.add("key", key).add("value", text);
  return ask(request, "kvs-put-response");
}

// Keys are the job's, whichever rank has put them.
Result<std::string> PmiWireup::get(int /*from*/, const std::string& key) {
  const bool is_one = version_ == PmiVersion::one;
  PmiMessage request(is_one ? "get" : "kvs-get");
  if (is_one) request.add("kvsname", space_);
  if (!is_one && !space_.empty()) request.add("jobid", space_);
  if (!is_one) request.add("srcid", "-1");
  const Result<PmiMessage> answer = ask(request.add("key", key), is_one ? "get_result" : "kvs-get-response");
  if (!answer) return answer.failure();
  if (!is_one && answer->at("found") == "FALSE") return bad_server("it has lost a key of rank 0");
  return std::string(answer->at("value"));
}

std::vector<int> PmiWireup::local_ranks() {
  constexpr char key[] = "PMI_process_mapping";
  PmiMessage request(version_ == PmiVersion::one ? "get" : "info-getjobattr");
  if (version_ == PmiVersion::one) request.add("kvsname", space_);
  request.add("key", key);
  const Result<PmiMessage> answer =
      ask(request, version_ == PmiVersion::one ? "get_result" : "info-getjobattr-response");
  if (!answer) return {};
  return ranks_beside(std::string(answer->at("value")), rank_, size_);
}

Result<void> PmiWireup::fence() {
  return version_ == PmiVersion::one ? ask(PmiMessage("barrier_in"), "barrier_out", fence_limit)
                                     : ask(PmiMessage("kvs-fence"), "kvs-fence-response", fence_limit);
}

void PmiWireup::finalize() {
  const std::lock_guard guard(mutex_);
  if (fd_ < 0) return;
  (void)ask(PmiMessage("finalize"), version_ == PmiVersion::one ? "finalize_ack" : "finalize-response");
  close(std::exchange(fd_, -1));
}

void PmiWireup::abort(int code, const char* /*text: the rank has printed it*/) {
  const std::lock_guard guard(mutex_);
  if (fd_ < 0) return;
  PmiMessage message("abort");
  if (version_ == PmiVersion::two) message.add("isworld", "TRUE").add("msg", "exit code " + std::to_string(code));
  (void)send(message.add("exitcode", std::to_string(code)));
}

// Slurm only kills the step.
bool PmiWireup::keeps_abort_code() const { return std::getenv("SLURM_STEP_ID") == nullptr; }

// ---- messages

Result<PmiMessage> PmiWireup::ask(const PmiMessage& request, const char* name, int seconds) {
  if (const Result<void> sent = send(request); !sent) return sent.failure();
  Result<PmiMessage> answer = receive(seconds);
  if (!answer || (answer->command() == name && answer->succeeded())) return answer;
  return refuse("the launcher's answer to PMI's %.40s was cmd=%.40s rc=%.20s %.100s",
                std::string(request.command()).c_str(), std::string(answer->command()).c_str(),
                std::string(answer->at("rc")).c_str(),
                std::string(answer->at(version_ == PmiVersion::one ? "msg" : "errmsg")).c_str());
}

Result<void> PmiWireup::send(const PmiMessage& message) {
  // The first message is a line in every version.
  const std::string text = message.encode(message.command() == "init" ? PmiVersion::one : version_);
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = ::send(fd_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return bad_server("it has closed the connection (has it ended?)");
    sent += static_cast<std::size_t>(n);
  }
  return {};
}

Result<PmiMessage> PmiWireup::receive(int seconds) {
  const std::int64_t begin = seconds_now();
  while (true) {
    bool broken = false;
    std::optional<PmiMessage> taken = PmiMessage::take(bytes_, version_, broken);
    if (broken) return bad_server("its messages are not PMI");
    if (taken) return *std::move(taken);
    const std::int64_t waited = seconds_now() - begin;
    if (waited >= seconds)
      return refuse("the launcher has not answered over PMI for %d seconds%s", seconds,
                    seconds == fence_limit ? ": not every process of the job has initialized MPI" : "");
    pollfd readable{.fd = fd_, .events = POLLIN, .revents = 0};
    if (::poll(&readable, 1, 1000) <= 0) continue;
    char buffer[4096];
    const ssize_t n = recv(fd_, buffer, sizeof buffer, 0);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return bad_server("it has closed the connection (has it ended?)");
    bytes_.append(buffer, static_cast<std::size_t>(n));
  }
}

}  // namespace heddle::boot
