#include "lln/networks.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "lln/loopback/loopback.hpp"
#include "threads/component.hpp"

namespace heddle::lln {

namespace {

constexpr std::string_view for_pretended_nodes = "loopback";

// The networks that have a component, and the package that each needs; the first that loads is the one for nodes that are really
// different.
struct Known {
  std::string_view name;
  const char* package;
};
constexpr std::array known{Known{"ucx", "libucx-dev"}};

const Component* load(const std::string& path, std::string& why) {
  threads::Module module(path, component_entry, why);
  if (module.entry() == nullptr) return nullptr;
  const Component* const component = reinterpret_cast<ComponentEntry>(module.entry())();
  if (component == nullptr || component->layout != component_layout) {
    module.close();
    why = path + " is no component of this version of Heddle";
    return nullptr;
  }
  return component;
}

}  // namespace

const Component* load_network(const std::string& name, std::string& why) {
  if (name.find('/') != std::string::npos) return load(name, why);
  const auto* const one = std::find_if(known.begin(), known.end(), [&](const Known& k) { return k.name == name; });
  if (one == known.end()) {
    why = "there is no network of that name, but " + std::string(for_pretended_nodes);
    for (const Known& k : known) why += ", " + std::string(k.name);
    return nullptr;
  }
  const std::string path = threads::component_folder() + "lln-" + name + ".so";
  if (access(path.c_str(), F_OK) != 0) {
    why = path + " is not there; install " + one->package + " and build Heddle again";
    return nullptr;
  }
  const Component* const component = load(path, why);
  if (component == nullptr) why += "; install what it needs, or choose another network";
  return component;
}

void Networks::Close::operator()(Network* network) const {
  if (component != nullptr) {
    component->close(network);
  } else {
    delete network;
  }
}

Networks::Networks(Directory& directory, node::Doorbell& bell, int rank, Settings settings)
    : directory_(directory), watch_(bell), rank_(rank), settings_(std::move(settings)) {
  if (settings_.network.empty() || settings_.network == for_pretended_nodes) return;
  std::string why;
  component_ = load_network(settings_.network, why);
  if (component_ == nullptr) throw std::runtime_error("HEDDLE_LLN=" + settings_.network + ": " + why);
}

std::string_view Networks::name() const { return component_ == nullptr ? for_pretended_nodes : settings_.network; }

Networks::End Networks::open(int vni) {
  if (component_ == nullptr) return End(new Loopback(directory_, rank_, vni, settings_.seed));
  Why why{};
  Network* const end = component_->open({directory_, rank_, vni, settings_.fail}, why);
  if (end == nullptr) throw std::runtime_error("HEDDLE_LLN=" + settings_.network + ": " + why.text);
  return End(end, {component_});
}

}  // namespace heddle::lln
