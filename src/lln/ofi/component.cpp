// libfabric as a component that is loaded.
#include <pthread.h>
#include <signal.h>

#include <cstdio>
#include <exception>
#include <string>

#include "lln/ofi/ofi.hpp"
#include "lln/ofi/provider.hpp"

namespace {

using namespace heddle::lln;

// libfabric's threads handle no signal of the program.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// Over the first provider that works. `why` says what was wrong with the others.
Network* open(const Surroundings& surroundings, Why& why) {
  std::string tried;
  try {
    const AllSignalsBlocked blocked;
    for (ofi::Info& info : ofi::find_providers()) {
      const std::string name = std::string(info->fabric_attr->prov_name) + " on " + info->domain_attr->name;
      try {
        return new Ofi(surroundings, std::move(info));
      } catch (const std::runtime_error& error) {
        tried += (tried.empty() ? "" : "; ") + name + ": " + error.what();
      }
    }
  } catch (const std::exception& error) {
    tried = error.what();
  }
  std::snprintf(why.text, sizeof why.text, "%s", tried.c_str());
  return nullptr;
}

void close(Network* network) { delete network; }

constexpr Component component{component_layout, "ofi", open, close};

}  // namespace

extern "C" [[gnu::visibility("default")]] const heddle::lln::Component* heddle_network() { return &component; }
