// Windows of every flavor behind one face, so that a test body is written once.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "mpi/check.hpp"

namespace test {

enum class Flavor { create, allocate, shared, dynamic };

// True if all ranks are on one node, which MPI_Win_allocate_shared needs.
inline bool shares_memory() {
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int ranks;
  MPI_Comm_size(node, &ranks);
  MPI_Comm_free(&node);
  int all = ranks == size();
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  return all != 0;
}

// Those that a window over MPI_COMM_WORLD can have.
inline std::vector<Flavor> flavors() {
  if (!shares_memory()) return {Flavor::create, Flavor::allocate, Flavor::dynamic};
  return {Flavor::create, Flavor::allocate, Flavor::shared, Flavor::dynamic};
}

inline const char* name(Flavor flavor) {
  constexpr const char* names[] = {"create", "allocate", "shared", "dynamic"};
  return names[static_cast<int>(flavor)];
}

// `n` elements of type T at every rank of MPI_COMM_WORLD, all of one value at first.
template <class T>
class Window {
 public:
  Window(Flavor flavor, std::size_t n, T value = T()) : flavor_(flavor), n_(n) {
    const auto bytes = static_cast<MPI_Aint>(n * sizeof(T));
    void* base = nullptr;
    switch (flavor) {
      case Flavor::create:
        memory_.resize(n);
        MPI_Win_create(memory_.data(), bytes, sizeof(T), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        break;
      case Flavor::allocate:
        MPI_Win_allocate(bytes, sizeof(T), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        break;
      case Flavor::shared:
        MPI_Win_allocate_shared(bytes, sizeof(T), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        break;
      case Flavor::dynamic:
        memory_.resize(n);
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_attach(win, memory_.data(), bytes);
        break;
    }
    data = base ? static_cast<T*>(base) : memory_.data();
    for (std::size_t i = 0; i < n; ++i) data[i] = value;
    bases_.resize(static_cast<std::size_t>(size()));
    MPI_Aint mine;
    MPI_Get_address(data, &mine);
    MPI_Allgather(&mine, 1, MPI_AINT, bases_.data(), 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Window() {
    if (flavor_ == Flavor::dynamic) {
      MPI_Barrier(MPI_COMM_WORLD);  // others may be in an epoch still
      MPI_Win_detach(win, data);
    }
    MPI_Win_free(&win);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  // The displacement of an element.
  MPI_Aint disp(int target, std::size_t element = 0) const {
    if (flavor_ != Flavor::dynamic) return static_cast<MPI_Aint>(element);
    return bases_[static_cast<std::size_t>(target)] + static_cast<MPI_Aint>(element * sizeof(T));
  }
  void fill(T value) {
    for (std::size_t i = 0; i < n_; ++i) data[i] = value;
  }

  MPI_Win win = MPI_WIN_NULL;
  T* data;

 private:
  Flavor flavor_;
  std::size_t n_;
  std::vector<T> memory_;
  std::vector<MPI_Aint> bases_;
};

// Runs body(thread) in so many threads.
inline void in_threads(int n, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < n; ++t) threads.emplace_back(body, t);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace test
