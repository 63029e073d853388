// UCX as a loadable component.
#include <cstdio>
#include <exception>

#include "network/component.hpp"
#include "network/ucx/ucx.hpp"

namespace {

heddle::lln::Network* open(const heddle::lln::Surroundings& surroundings, heddle::lln::Why& why) {
  try {
    return new heddle::lln::Ucx(surroundings);
  } catch (const std::exception& error) {
    std::snprintf(why.text, sizeof why.text, "%s", error.what());
    return nullptr;
  }
}

void close(heddle::lln::Network* network) { delete network; }

constexpr heddle::lln::Component component{heddle::lln::component_layout, "ucx", open, close};

}  // namespace

extern "C" [[gnu::visibility("default")]] const heddle::lln::Component* heddle_network() { return &component; }
