// The switch of a cluster whose network has delay, jitter or loss: for each node and rail a TAP device, and between those of a
// rail frames travel after their delay, in the order in which each node sent them, or are lost. Kernels of virtual machines
// often lack netem, which would do this.
//
// forwarder NODES RAILS DELAY JITTER LOSS      times in nanoseconds, LOSS a fraction
//
// It makes the devices nKrR, prints "ready", and obeys lines of its standard input, each answered by "done": "down K R" pulls a
// cable, "up K R" plugs it in. It ends with its standard input. A frame's destination is read from its hardware address,
// 02:77:00:RAIL:NODE:NODE, set by the process that moves the devices into the nodes.
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace heddle::cluster {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

constexpr std::size_t offload_header = 10;  // struct virtio_net_hdr, which goes from device to device as it is
constexpr std::size_t largest = offload_header + 14 + (64 << 10) + 64;
constexpr std::size_t most_held = 64 << 20;  // bytes of a node on the way; a switch that holds more drops
constexpr int batch = 64;                    // frames of a node before it is another's turn

struct Conditions {
  nanoseconds delay, jitter;
  double loss;
};

struct Frame {
  Clock::time_point due;
  std::vector<std::byte> bytes;
};

// The end of a cable: the TAP device that is the interface of a node, and the frames that it has sent and that are not received yet.
struct Port {
  int device = -1;
  int node = 0, rail = 0;
  bool plugged = true;
  std::deque<Frame> sent{};
  std::size_t held = 0;
};

// With loss, segments are lost one by one, so they must come one by one.
int open_tap(int node, int rail, bool offload) {
  const int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (device < 0) return -1;
  ifreq wish{};
  snprintf(wish.ifr_name, sizeof wish.ifr_name, "n%dr%d", node, rail);
  wish.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
  const unsigned int capabilities = offload ? TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN : TUN_F_CSUM;
  if (ioctl(device, TUNSETIFF, &wish) != 0 || ioctl(device, TUNSETOFFLOAD, capabilities) != 0) {
    close(device);
    return -1;
  }
  return device;
}

class Forwarder {
 public:
  Forwarder(int nodes, int rails, Conditions conditions) : nodes_(nodes), conditions_(conditions) {
    for (int rail = 1; rail <= rails; ++rail) {
      for (int node = 1; node <= nodes; ++node) ports_.push_back(Port{.node = node, .rail = rail});
    }
  }

  bool open_devices() {
    for (Port& port : ports_) {
      port.device = open_tap(port.node, port.rail, conditions_.loss == 0);
      if (port.device < 0) return false;
    }
    return true;
  }

  void run() {
    std::vector<pollfd> polled(ports_.size() + 1);
    while (true) {
      for (std::size_t i = 0; i < ports_.size(); ++i)
        polled[i] = {.fd = ports_[i].device, .events = POLLIN, .revents = 0};
      polled.back() = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
      const std::optional<timespec> left = until_next();
      if (ppoll(polled.data(), polled.size(), left ? &*left : nullptr, nullptr) < 0 && errno != EINTR) return;
      for (std::size_t i = 0; i < ports_.size(); ++i) {
        if (polled[i].revents & POLLIN) take(ports_[i]);
        if (polled[i].revents & POLLERR) lose(ports_[i]);  // the node and its interface are gone
      }
      deliver_due();
      if (polled.back().revents != 0 && !obey()) return;
    }
  }

 private:
  void take(Port& port) {
    for (int i = 0; i < batch; ++i) {
      const ssize_t length = read(port.device, buffer_.data(), buffer_.size());
      if (length < static_cast<ssize_t>(offload_header) + 14) return;
      const auto size = static_cast<std::size_t>(length);
      if (!port.plugged || port.held + size > most_held || lost()) continue;
      Clock::time_point due = Clock::now() + conditions_.delay;
      if (conditions_.jitter.count() > 0) due += nanoseconds(jitters_(random_));
      if (!port.sent.empty() && due < port.sent.back().due) due = port.sent.back().due;
      port.held += size;
      port.sent.push_back(Frame{due, {buffer_.begin(), buffer_.begin() + length}});
    }
  }

  bool lost() { return conditions_.loss > 0 && std::uniform_real_distribution<>(0, 1)(random_) < conditions_.loss; }

  std::optional<timespec> until_next() const {
    std::optional<Clock::time_point> next;
    for (const Port& port : ports_) {
      if (!port.sent.empty() && (!next || port.sent.front().due < *next)) next = port.sent.front().due;
    }
    if (!next) return std::nullopt;
    const std::int64_t left = std::max<std::int64_t>(nanoseconds(*next - Clock::now()).count(), 0);
    return timespec{.tv_sec = left / 1'000'000'000, .tv_nsec = left % 1'000'000'000};
  }

  void deliver_due() {
    for (Port& port : ports_) {
      while (!port.sent.empty() && port.sent.front().due <= Clock::now()) {
        port.held -= port.sent.front().bytes.size();
        if (port.plugged) deliver(port, port.sent.front().bytes);
        port.sent.pop_front();
      }
    }
  }

  void deliver(const Port& from, std::span<const std::byte> frame) {
    const std::byte* address = frame.data() + offload_header;
    const auto part = [&](int i) { return std::to_integer<int>(address[i]); };
    if ((part(0) & 1) == 0) {  // to one
      const int node = part(4) << 8 | part(5);
      if (Port* to = find(node, from.rail)) put(*to, frame);
      return;
    }
    for (Port& to : ports_) {
      if (to.rail == from.rail && to.node != from.node) put(to, frame);
    }
  }

  // A device that is down or full refuses; the frame is lost, as on a wire.
  static void put(const Port& to, std::span<const std::byte> frame) {
    if (to.plugged && to.device >= 0 && write(to.device, frame.data(), frame.size()) < 0) return;
  }

  Port* find(int node, int rail) {
    const std::size_t place = static_cast<std::size_t>(rail - 1) * nodes_ + (node - 1);
    return node >= 1 && node <= nodes_ && rail >= 1 && place < ports_.size() ? &ports_[place] : nullptr;
  }

  static void lose(Port& port) {
    close(port.device);
    port.device = -1;
    port.sent.clear();
    port.held = 0;
  }

  bool obey() {
    std::array<char, 512> text;
    const ssize_t length = read(STDIN_FILENO, text.data(), text.size());
    if (length <= 0) return false;
    asked_.append(text.data(), static_cast<std::size_t>(length));
    for (std::size_t end; (end = asked_.find('\n')) != std::string::npos; asked_.erase(0, end + 1)) {
      char what[8];
      int node = 0, rail = 0;
      if (sscanf(asked_.c_str(), "%7s %d %d", what, &node, &rail) != 3) return false;
      if (Port* port = find(node, rail); port != nullptr && port->device >= 0) {
        const int carrier = strcmp(what, "up") == 0 ? 1 : 0;
        port->plugged = carrier == 1;
        ioctl(port->device, TUNSETCARRIER, &carrier);
      }
      puts("done");
    }
    return true;
  }

  int nodes_;
  Conditions conditions_;
  std::vector<Port> ports_;  // by rail, then by node
  std::array<std::byte, largest> buffer_{};
  std::mt19937_64 random_{1};
  std::uniform_int_distribution<std::int64_t> jitters_{0, conditions_.jitter.count()};
  std::string asked_;
};

}  // namespace
}  // namespace heddle::cluster

int main(int count, char** words) {
  using namespace heddle::cluster;
  if (count != 6) return 2;
  setvbuf(stdout, nullptr, _IOLBF, 0);
  prctl(PR_SET_TIMERSLACK, 1);  // nanoseconds: by default the kernel may be 50 us late
  Forwarder forwarder(
      atoi(words[1]), atoi(words[2]),
      {.delay = nanoseconds(atoll(words[3])), .jitter = nanoseconds(atoll(words[4])), .loss = atof(words[5])});
  if (!forwarder.open_devices()) {
    puts(strerror(errno));
    return 1;
  }
  puts("ready");
  forwarder.run();
}
