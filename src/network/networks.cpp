#include "network/networks.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "network/fault_tolerant.hpp"
#include "network/loopback/loopback.hpp"
#include "network/network_names.hpp"
#include "network/rails/links.hpp"
#include "network/rails/rails.hpp"

namespace heddle::lln {

namespace {

constexpr std::string_view for_pretended_nodes = "loopback";

// The networks that have a component, and the package that each needs; the first that loads is the one for real nodes.
struct Known {
  std::string_view name;
  const char* package;
};
constexpr std::array known{Known{"ucx", "libucx-dev"}, Known{"ofi", "libfabric-dev"}};

// Variables that UCX, and the libraries for InfiniPath and Omni-Path below libfabric, read from the environment only
// while they are loaded: by default they would handle crashes that are ours to report, and UCX would patch the
// program's memory calls. A variable that the user has set stays, and the environment is restored afterwards.
class WhileLoading {
 public:
  WhileLoading() {
    for (std::size_t i = 0; i < defaults.size(); ++i) set_[i] = std::getenv(defaults[i][0]) == nullptr;
    for (std::size_t i = 0; i < defaults.size(); ++i)
      if (set_[i]) setenv(defaults[i][0], defaults[i][1], 0);
  }
  ~WhileLoading() {
    for (std::size_t i = 0; i < defaults.size(); ++i)
      if (set_[i]) unsetenv(defaults[i][0]);
  }
  WhileLoading(const WhileLoading&) = delete;
  WhileLoading& operator=(const WhileLoading&) = delete;

 private:
  static constexpr std::array<std::array<const char*, 2>, 4> defaults{
      {{"UCX_HANDLE_ERRORS", "none"}, {"UCX_MEM_EVENTS", "n"}, {"IPATH_NO_BACKTRACE", "1"}, {"HFI_NO_BACKTRACE", "1"}}};
  std::array<bool, defaults.size()> set_{};
};

std::string known_names() {
  std::string names;
  for (const Known& k : known) names += (names.empty() ? "" : ", ") + std::string(k.name);
  return names;
}

// The name of a network as a word that ranks agree on: its first characters, and the number of rails in the last byte.
constexpr int rails_at = 56;
std::uint64_t word_of(std::string_view name) {
  std::uint64_t word = 0;
  std::memcpy(&word, name.data(), std::min(name.size(), sizeof word - 1));
  return word;
}
std::string text_of(std::uint64_t word) {
  char text[sizeof word] = {};
  std::memcpy(text, &word, sizeof word - 1);
  return text;
}

Result<const Component*> load(const std::string& path, const threads::Opener& open) {
  const WhileLoading defaults;
  const Result<threads::Module> module = threads::open_module(path, component_entry, open);
  if (!module) return module.failure();
  const Component* const component = reinterpret_cast<ComponentEntry>(module->entry)();
  if (component == nullptr || component->layout != component_layout) {
    module->close();
    return refuse("%s is not a component of this version of Heddle", path.c_str());
  }
  return component;
}

}  // namespace

std::vector<std::string> network_names() {
  std::vector<std::string> names{std::string(for_pretended_nodes)};
  for (const Known& one : known) names.emplace_back(one.name);
  return names;
}

Result<const Component*> load_network(const std::string& name, const threads::Opener& open) {
  if (name.find('/') != std::string::npos) return load(name, open);
  const auto* const one = std::find_if(known.begin(), known.end(), [&](const Known& k) { return k.name == name; });
  if (one == known.end())
    return Failure{.text = "unknown network. Known are " + std::string(for_pretended_nodes) + ", " + known_names()};
  const std::string path = threads::component_folder() + "lln-" + name + ".so";
  if (access(path.c_str(), F_OK) != 0)
    return refuse("%s is not available: install %s and build Heddle again", path.c_str(), one->package);
  Result<const Component*> component = load(path, open);
  if (component) return component;
  return refuse("%s; install what it needs, or choose another network", component.failure().text.c_str());
}

void Networks::Close::operator()(Network* network) const {
  if (component != nullptr) {
    component->close(network);
  } else {
    delete network;
  }
}

Networks::Networks(Directory& directory, node::Doorbell& bell, const Place& place, Settings settings)
    : directory_(directory), place_(place), settings_(std::move(settings)) {
  note_ = [this](const char* text) {
    if (!noted_.exchange(true)) settings_.note(text);
  };
  end_job_ = [this](int, const char* text) { settings_.fail(text); };
  choose();
  watch_.emplace(bell);
}

void Networks::choose() {
  const bool loopback = settings_.network == for_pretended_nodes;
  if (settings_.pretended && (settings_.network.empty() || loopback)) {
    choose_rails();
    return;
  }
  if (loopback)
    throw std::runtime_error(
        "invalid value loopback for HEDDLE_LLN: these nodes are real, and it connects simulated ones (HEDDLE_NODES). "
        "Unset it, or choose "
        "one of " +
        known_names());
  if (settings_.network.empty()) {
    load_first();
  } else {
    title_ = "HEDDLE_LLN=" + settings_.network;
    const Result<const Component*> loaded = load_network(settings_.network, settings_.open);
    if (!loaded) throw std::runtime_error(title_ + ": " + loaded.failure().text);
    component_ = *loaded;
  }
  choose_rails();
  if (!settings_.pretended) agree();
  watch_links(devices_, settings_.fail);
}

// Devices of the network; a number for the test network.
void Networks::choose_rails() {
  const std::string& text = settings_.rails;
  if (text.empty()) return;
  devices_.clear();
  if (component_ == nullptr) {
    if (text.size() != 1 || text[0] < '1' || text[0] > '0' + most_rails)
      throw std::runtime_error("HEDDLE_RAILS=" + text + " is not a number of rails from 1 to " +
                               std::to_string(most_rails));
    devices_.resize(static_cast<std::size_t>(text[0] - '0'));
    return;
  }
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    devices_.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  const bool named = std::ranges::none_of(devices_, &std::string::empty);
  if (!named || devices_.size() > static_cast<std::size_t>(most_rails))
    throw std::runtime_error("HEDDLE_RAILS=" + text + " is not a list of 1 to " + std::to_string(most_rails) +
                             " devices of " + component_->name);
}

void Networks::load_first() {
  std::string reasons;
  for (const Known& one : known) {
    title_ = one.name;
    const Result<const Component*> loaded = load_network(title_, settings_.open);
    if (loaded) {
      component_ = *loaded;
      return;
    }
    reasons += "; " + title_ + ": " + loaded.failure().text;
  }
  throw std::runtime_error("cannot load a network" + reasons);
}

// Both ends of a message must use one network.
void Networks::agree() const {
  const std::uint64_t rails = std::uint64_t{devices_.size()} << rails_at;
  const std::uint64_t ours = word_of(component_->name) | rails, all = settings_.agree(ours);
  if (all == ours) return;
  if (text_of(all) == text_of(ours))
    throw std::runtime_error("this node has " + std::to_string(devices_.size()) + " rails, and another one " +
                             std::to_string(all >> rails_at) + "; set HEDDLE_RAILS to as many on all nodes");
  throw std::runtime_error("this node uses " + std::string(component_->name) + ", and another one " + text_of(all) +
                           "; install the same networks on all nodes, or set HEDDLE_LLN to one that all of them have");
}

std::string_view Networks::name() const { return component_ == nullptr ? for_pretended_nodes : component_->name; }

Networks::End Networks::open(int vni) {
  if (!settings_.is_gone) return open_rails(vni, end_job_);
  return End(new FaultTolerant([&](Lost lost) { return open_rails(vni, lost); }, settings_.fail, settings_.is_gone));
}

Networks::End Networks::open_rails(int vni, Lost lost) {
  if (devices_.size() == 1) return open_rail(vni, 0, lost);
  std::vector<End> rails;
  for (std::size_t rail = 0; rail < devices_.size(); ++rail) rails.push_back(open_rail(vni, rail, lost));
  return End(new Rails(std::move(rails)));
}

// Its address is published, and its packets are sealed, as those of a separate VNI.
Networks::End Networks::open_rail(int vni, std::size_t rail, Lost lost) {
  const Surroundings surroundings{.directory = directory_,
                                  .place = place_,
                                  .secret = settings_.secret,
                                  .vni = vni + most_vnis * static_cast<int>(rail),
                                  .fail = settings_.fail,
                                  .lost = lost,
                                  .note = note_,
                                  .device = devices_[rail].c_str(),
                                  .survives = static_cast<bool>(settings_.is_gone)};
  if (component_ == nullptr) return End(new Loopback(surroundings, settings_.seed, settings_.is_narrow));
  Why why{};
  Network* const end = component_->open(surroundings, why);
  if (end == nullptr) {
    const std::string device = devices_[rail].empty() ? "" : " over " + devices_[rail];
    throw std::runtime_error(title_ + device + ": " + why.text);
  }
  return End(end, {component_});
}

}  // namespace heddle::lln
