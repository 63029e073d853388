// libc's mutexes, conditions, semaphores and barriers, in virtual time.
//
// Each uses the first word of its memory, and costs what its accesses to it cost. Robust mutexes and those that inherit
// priorities are as others.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include <climits>

#include "simulator/kernel/clock.hpp"
#include "simulator/kernel/futex.hpp"
#include "simulator/kernel/real.hpp"
#include "simulator/simulation.hpp"

namespace heddle::simulator {
namespace {

constexpr int kind_mask = 3;  // of __kind: normal, recursive, with errors, adaptive

std::uint32_t* word_of(void* object) { return static_cast<std::uint32_t*>(object); }

void note(pthread_mutex_t& mutex, bool taken) {
  if (trace != nullptr) [[unlikely]]
    trace->locked(*self, simulation->memory.identity(reinterpret_cast<std::uintptr_t>(&mutex)), taken,
                  simulation->scheduler.clock);
}

// The word of a mutex: 0 free, 1 taken, 2 taken and a thread may sleep on it. Takes it as `taken` if it is free.
bool take(pthread_mutex_t& mutex, std::uint32_t taken, const void* caller) {
  std::uint32_t& word = *word_of(&mutex);
  touch(&word, sizeof(std::uint32_t), Access::update, reinterpret_cast<std::uintptr_t>(caller));
  if (word != 0) return false;
  word = taken;
  mutex.__data.__owner = self->number + 1;
  note(mutex, true);
  return true;
}

// 0: not ours, or one that may be taken again; else what taking it again returns.
int lock_again(pthread_mutex_t& mutex, bool& done) {
  done = false;
  if (*word_of(&mutex) == 0 || mutex.__data.__owner != self->number + 1) return 0;
  switch (mutex.__data.__kind & kind_mask) {
    case PTHREAD_MUTEX_RECURSIVE:
      ++mutex.__data.__count;
      done = true;
      return 0;
    case PTHREAD_MUTEX_ERRORCHECK:
      return EDEADLK;
    default:
      return 0;
  }
}

int lock(pthread_mutex_t& mutex, Time until, const void* caller) {
  bool done = false;
  if (const int error = lock_again(mutex, done); error != 0 || done) return error;
  for (std::uint32_t taken = 1; !take(mutex, taken, caller); taken = 2) {
    *word_of(&mutex) = 2;
    if (futex_wait(word_of(&mutex), 2, until, "pthread_mutex_lock") == -ETIMEDOUT) return ETIMEDOUT;
  }
  return 0;
}

int unlock(pthread_mutex_t& mutex, const void* caller) {
  if ((mutex.__data.__kind & kind_mask) == PTHREAD_MUTEX_RECURSIVE && mutex.__data.__count > 0) {
    --mutex.__data.__count;
    return 0;
  }
  std::uint32_t& word = *word_of(&mutex);
  touch(&word, sizeof(std::uint32_t), Access::update, reinterpret_cast<std::uintptr_t>(caller));
  note(mutex, false);
  const bool wanted = word == 2;
  mutex.__data.__owner = 0;
  word = 0;
  if (wanted) futex_wake(&word, 1);
  return 0;
}

int wait(pthread_cond_t& condition, pthread_mutex_t& mutex, Time until, const void* caller) {
  std::uint32_t& word = *word_of(&condition);  // counts signals
  touch(&word, sizeof(std::uint32_t), Access::read, reinterpret_cast<std::uintptr_t>(caller));
  const std::uint32_t seen = word;
  unlock(mutex, caller);
  const long result = futex_wait(&word, seen, until, "pthread_cond_wait");
  lock(mutex, never, caller);
  return result == -ETIMEDOUT ? ETIMEDOUT : 0;
}

int signal(pthread_cond_t& condition, unsigned n, const void* caller) {
  std::uint32_t& word = *word_of(&condition);
  touch(&word, sizeof(std::uint32_t), Access::update, reinterpret_cast<std::uintptr_t>(caller));
  ++word;
  futex_wake(&word, n);
  return 0;
}

// A semaphore's word is its value.
int take(sem_t& semaphore, Time until, bool waits, const void* caller) {
  std::uint32_t& word = *word_of(&semaphore);
  for (;;) {
    touch(&word, sizeof(std::uint32_t), Access::update, reinterpret_cast<std::uintptr_t>(caller));
    if (word != 0) {
      --word;
      return 0;
    }
    if (!waits) {
      errno = EAGAIN;
      return -1;
    }
    if (futex_wait(&word, 0, until, "sem_wait", true) == -ETIMEDOUT) {
      errno = ETIMEDOUT;
      return -1;
    }
  }
}

struct Barrier {
  std::uint32_t round;
  std::uint32_t count;
  std::uint32_t come;
};
static_assert(sizeof(Barrier) <= sizeof(pthread_barrier_t));

}  // namespace

#define HEDDLE_REAL(NAME) constinit Real<decltype(NAME)> real_##NAME(#NAME)
HEDDLE_REAL(pthread_mutex_lock);
HEDDLE_REAL(pthread_mutex_trylock);
HEDDLE_REAL(pthread_mutex_timedlock);
HEDDLE_REAL(pthread_mutex_unlock);
HEDDLE_REAL(pthread_cond_wait);
HEDDLE_REAL(pthread_cond_timedwait);
HEDDLE_REAL(pthread_cond_clockwait);
HEDDLE_REAL(pthread_cond_signal);
HEDDLE_REAL(pthread_cond_broadcast);
HEDDLE_REAL(sem_wait);
HEDDLE_REAL(sem_trywait);
HEDDLE_REAL(sem_timedwait);
HEDDLE_REAL(sem_post);
HEDDLE_REAL(pthread_barrier_init);
HEDDLE_REAL(pthread_barrier_wait);
HEDDLE_REAL(pthread_barrier_destroy);
HEDDLE_REAL(pthread_once);
#undef HEDDLE_REAL

}  // namespace heddle::simulator

using namespace heddle::simulator;

extern "C" {

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  return self == nullptr ? real_pthread_mutex_lock(mutex) : lock(*mutex, never, __builtin_return_address(0));
}
int pthread_mutex_trylock(pthread_mutex_t* mutex) {
  if (self == nullptr) return real_pthread_mutex_trylock(mutex);
  bool done = false;
  if (lock_again(*mutex, done) != 0) return EBUSY;
  return done || take(*mutex, 1, __builtin_return_address(0)) ? 0 : EBUSY;
}
int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) {
  return self == nullptr ? real_pthread_mutex_timedlock(mutex, until)
                         : lock(*mutex, at_time(*until, CLOCK_REALTIME), __builtin_return_address(0));
}
int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  return self == nullptr ? real_pthread_mutex_unlock(mutex) : unlock(*mutex, __builtin_return_address(0));
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return self == nullptr ? real_pthread_cond_wait(condition, mutex)
                         : wait(*condition, *mutex, never, __builtin_return_address(0));
}
int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
  return self == nullptr ? real_pthread_cond_timedwait(condition, mutex, until)
                         : wait(*condition, *mutex, at_time(*until, CLOCK_REALTIME), __builtin_return_address(0));
}
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  return self == nullptr ? real_pthread_cond_clockwait(condition, mutex, clock, until)
                         : wait(*condition, *mutex, at_time(*until, clock), __builtin_return_address(0));
}
int pthread_cond_signal(pthread_cond_t* condition) {
  return self == nullptr ? real_pthread_cond_signal(condition)
                         : heddle::simulator::signal(*condition, 1, __builtin_return_address(0));
}
int pthread_cond_broadcast(pthread_cond_t* condition) {
  return self == nullptr ? real_pthread_cond_broadcast(condition)
                         : heddle::simulator::signal(*condition, UINT_MAX, __builtin_return_address(0));
}

int sem_wait(sem_t* semaphore) {
  return self == nullptr ? real_sem_wait(semaphore) : take(*semaphore, never, true, __builtin_return_address(0));
}
int sem_trywait(sem_t* semaphore) {
  return self == nullptr ? real_sem_trywait(semaphore) : take(*semaphore, never, false, __builtin_return_address(0));
}
int sem_timedwait(sem_t* semaphore, const timespec* until) {
  return self == nullptr ? real_sem_timedwait(semaphore, until)
                         : take(*semaphore, at_time(*until, CLOCK_REALTIME), true, __builtin_return_address(0));
}
int sem_post(sem_t* semaphore) {
  if (self == nullptr) return real_sem_post(semaphore);
  std::uint32_t& word = *word_of(semaphore);
  touch(&word, sizeof(std::uint32_t), Access::update, reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
  ++word;
  futex_wake(&word, 1);
  return 0;
}

int pthread_barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes, unsigned count) {
  if (self == nullptr) return real_pthread_barrier_init(barrier, attributes, count);
  if (count == 0) return EINVAL;
  *reinterpret_cast<Barrier*>(barrier) = {0, count, 0};
  return 0;
}
int pthread_barrier_wait(pthread_barrier_t* barrier) {
  if (self == nullptr) return real_pthread_barrier_wait(barrier);
  auto& mine = *reinterpret_cast<Barrier*>(barrier);
  touch(&mine.come, sizeof(std::uint32_t), Access::update,
        reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
  if (++mine.come == mine.count) {
    mine.come = 0;
    ++mine.round;
    futex_wake(&mine.round, UINT_MAX);
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  for (const std::uint32_t round = mine.round; mine.round == round;)
    futex_wait(&mine.round, round, never, "pthread_barrier_wait");
  return 0;
}
int pthread_barrier_destroy(pthread_barrier_t* barrier) {
  return self == nullptr ? real_pthread_barrier_destroy(barrier) : 0;
}

// As in libc, 2 is done; 1 is under way.
int pthread_once(pthread_once_t* control, void (*routine)()) {
  if (self == nullptr) return real_pthread_once(control, routine);
  std::uint32_t& word = *word_of(control);
  touch(&word, sizeof(std::uint32_t), Access::read, reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
  while (word == 1) futex_wait(&word, 1, never, "pthread_once");
  if (word == 2) return 0;
  word = 1;
  routine();
  word = 2;
  futex_wake(&word, UINT_MAX);
  return 0;
}
}
