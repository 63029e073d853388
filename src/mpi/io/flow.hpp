// An algorithm that waits for messages and for I/O, written once: executed at once by a blocking call, or in parts by
// progress. It is a coroutine that awaits requests, or a job of the executor.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>
#include <vector>

#include "mpi/io/executor.hpp"
#include "objects/object/error.hpp"
#include "objects/object/request.hpp"

namespace heddle::io {

class Flow {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  struct promise_type {
    const std::vector<Request*>* requests = nullptr;  // what it waits for: all of these,
    const Job* job = nullptr;                         // or this
    std::exception_ptr thrown;

    bool is_ready() const;
    struct Awaiter {
      promise_type& promise;
      bool await_ready() const { return promise.is_ready(); }
      void await_suspend(std::coroutine_handle<>) const {}
      void await_resume() const {
        promise.requests = nullptr;
        promise.job = nullptr;
      }
    };
    Awaiter await_transform(const std::vector<Request*>& awaited) {
      requests = &awaited;
      return {*this};
    }
    Awaiter await_transform(const Job& awaited) {
      job = &awaited;
      return {*this};
    }

    Flow get_return_object() { return Flow(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() const { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const {}
    void unhandled_exception() { thrown = std::current_exception(); }
  };

  explicit Flow(Handle handle) : handle_(handle) {}
  ~Flow() {
    if (handle_) handle_.destroy();
  }
  Flow(Flow&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Flow& operator=(Flow&&) = delete;

  // Advances as far as possible without waiting; true at the end. Its exception is thrown here, once, at its end.
  bool advance();
  // To the end. It awaits no job.
  void run();

 private:
  bool resume();
  Handle handle_;
};

// Gives back requests that are done; returns the first error, if any.
Error end_requests(std::vector<Request*>& requests);

}  // namespace heddle::io
