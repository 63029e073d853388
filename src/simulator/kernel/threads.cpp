// The life of threads: each is a kernel thread that runs when its turn comes.
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>

#include <climits>
#include <map>
#include <memory>

#include "simulator/kernel/handles.hpp"
#include "simulator/kernel/real.hpp"
#include "simulator/simulation.hpp"

namespace heddle::simulator {
namespace {

using Body = void* (*)(void*);

constinit Real<int(pthread_t*, const pthread_attr_t*, Body, void*)> real_create("pthread_create");
constinit Real<int(pthread_t, void**)> real_join("pthread_join");

struct Beginning {
  Thread& thread;
  Body body;
  void* argument;
  Baton begun;
};

// A thread that was not joined stays until its handle is used again.
std::map<pthread_t, Thread*>& by_handle() {
  static auto& threads = *new std::map<pthread_t, Thread*>;
  return threads;
}

// The last thing that a thread does in virtual time, after the destructors of its thread-local objects. Destructors of keys
// are called in rounds; ours asks for the last.
thread_local int rounds = 0;
void at_end(void*);
pthread_key_t key() {
  static const pthread_key_t made = [] {
    pthread_key_t k{};
    pthread_key_create(&k, at_end);
    return k;
  }();
  return made;
}
void at_end(void*) {
  if (self == nullptr) return;
  if (++rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(key(), &rounds);
    return;
  }
  simulation->scheduler.end();
  self = nullptr;
}

void* begin(void* given) {
  auto* const beginning = static_cast<Beginning*>(given);
  const Body body = beginning->body;
  void* const argument = beginning->argument;
  Thread& thread = beginning->thread;
  pthread_setspecific(key(), &rounds);
  beginning->begun.give();  // it is freed after this
  simulation->scheduler.begin(thread);
  self = &thread;
  return body(argument);
}

}  // namespace

Thread* thread_of(pthread_t handle) {
  if (self != nullptr && handle == pthread_self()) return self;
  const auto found = by_handle().find(handle);
  return found != by_handle().end() ? found->second : nullptr;
}

}  // namespace heddle::simulator

using heddle::simulator::self;
using heddle::simulator::simulation;

extern "C" {

int pthread_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) {
  using namespace heddle::simulator;
  if (self == nullptr) return real_create(handle, attributes, body, argument);
  enter_kernel(simulation->scheduler.machine().thread_start);
  key();
  Thread& thread = simulation->scheduler.add();
  Beginning beginning{thread, body, argument, {}};
  if (const int error = real_create(handle, attributes, begin, &beginning); error != 0) {
    thread.over = true;
    return error;
  }
  by_handle()[*handle] = &thread;
  beginning.begun.take();
  simulation->scheduler.start(thread);
  return 0;
}

int pthread_join(pthread_t handle, void** result) {
  using namespace heddle::simulator;
  if (self != nullptr) {
    enter_kernel(simulation->scheduler.machine().system_call);
    if (Thread* const thread = thread_of(handle)) {
      while (!thread->over) simulation->scheduler.sleep(thread, never, "pthread_join");
      by_handle().erase(handle);
    }
  }
  return real_join(handle, result);
}
}
