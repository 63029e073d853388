// Every way in which libc lets threads wait for each other, and the clocks: answers are as on a real machine.
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <thread>

#include "pair.hpp"

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("failed: %s\n", what);
  ++failures;
}

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void conditions() {
  std::mutex mutex;
  std::condition_variable condition;
  bool set = false;
  together(
      [&] {
        std::unique_lock lock(mutex);
        condition.wait(lock, [&] { return set; });
      },
      [&] {
        const std::lock_guard lock(mutex);
        set = true;
        condition.notify_all();
      });
  std::unique_lock lock(mutex);
  const double begin = now();
  expect(condition.wait_for(lock, std::chrono::milliseconds(20)) == std::cv_status::timeout, "a wait that times out");
  expect(now() - begin >= 0.020 && now() - begin < 0.021, "its length in virtual time");
}

void timers() {
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  const itimerspec later{.it_interval = {}, .it_value = {0, 50'000'000}};
  expect(timerfd_settime(timer, 0, &later, nullptr) == 0, "timerfd_settime");
  pollfd readable{.fd = timer, .events = POLLIN, .revents = 0};
  expect(poll(&readable, 1, 0) == 0, "a timer that has not expired");
  itimerspec left{};
  expect(timerfd_gettime(timer, &left) == 0 && left.it_value.tv_nsec > 49'000'000, "the time that is left");
  const double begin = now();
  expect(poll(&readable, 1, -1) == 1, "a timer that expires");
  expect(now() - begin > 0.049 && now() - begin < 0.051, "its length in virtual time");
  std::uint64_t times = 0;
  expect(read(timer, &times, sizeof times) == sizeof times && times == 1, "how often it has expired");
  // Set again before it was read.
  const itimerspec soon{.it_interval = {}, .it_value = {0, 1}};
  timerfd_settime(timer, 0, &soon, nullptr);
  expect(poll(&readable, 1, 1) == 1, "a timer that was set again");
  timerfd_settime(timer, 0, &later, nullptr);
  expect(poll(&readable, 1, 0) == 0, "a set timer has not expired");
  close(timer);
}

void semaphores() {
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  expect(sem_trywait(&semaphore) != 0, "an empty semaphore");
  together([&] { expect(sem_wait(&semaphore) == 0, "sem_wait"); }, [&] { sem_post(&semaphore); });
  sem_destroy(&semaphore);
}

void barriers() {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 2);
  int last[2] = {};
  const auto meet = [&](int me) {
    for (int round = 0; round != 10; ++round)
      last[me] += pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
  };
  together([&] { meet(0); }, [&] { meet(1); });
  expect(last[0] + last[1] == 10, "one thread of each round of a barrier is its last");
  pthread_barrier_destroy(&barrier);
}

void recursion() {
  std::recursive_mutex mutex;
  mutex.lock();
  mutex.lock();
  mutex.unlock();
  bool taken = true;
  together([] {}, [&] { taken = mutex.try_lock(); });
  expect(!taken, "a recursive mutex that is still locked");
  mutex.unlock();
  together([] {}, [&] { taken = mutex.try_lock() && (mutex.unlock(), true); });
  expect(taken, "a recursive mutex that is unlocked");
}

void sleeping() {
  const double begin = now();
  together([] { std::this_thread::sleep_for(std::chrono::seconds(3)); },
           [] { std::this_thread::sleep_for(std::chrono::seconds(2)); });
  expect(now() - begin >= 3 && now() - begin < 3.001, "threads sleep side by side, and real time does not pass");
}

struct Ending {
  int* ended = nullptr;
  ~Ending() {
    if (ended != nullptr) ++*ended;
  }
};

void endings() {
  int ended = 0;
  together([] {},
           [&] {
             static thread_local Ending at_end;
             at_end.ended = &ended;
           });
  expect(ended == 1, "thread-local objects are destroyed before a thread is joined");
}

}  // namespace

int main() {
  conditions();
  timers();
  semaphores();
  barriers();
  recursion();
  sleeping();
  endings();
  std::once_flag once;
  int calls = 0;
  const auto call = [&] { std::call_once(once, [&] { ++calls; }); };
  together(call, call);
  expect(calls == 1, "call_once");
  return failures == 0 ? 0 : 1;
}
