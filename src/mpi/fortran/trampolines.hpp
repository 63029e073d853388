// C functions that call Fortran procedures, for the callbacks that MPI calls without any state of ours: user operations
// and error handlers. The standard ABI has no state for them, so there is a fixed number of C functions of each kind,
// each with a place for one Fortran procedure. A procedure keeps its place for good (the end of its last operation is
// unknown), and gets the same one again.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

#include "mpi/fortran/procedure.hpp"

namespace heddle::fortran {

// Kind: `Function`, the type of the C function, and `call(Procedure, arguments...)`.
template <class Kind>
class Trampolines {
 public:
  static constexpr std::size_t most = 256;

  // Null: there are too many different procedures.
  static typename Kind::Function* to(Procedure procedure) {
    for (std::size_t i = 0; i < most; ++i) {
      Procedure there = nullptr;
      if (places_[i].compare_exchange_strong(there, procedure) || there == procedure) return functions_[i];
    }
    return nullptr;
  }

  static Procedure procedure(std::size_t place) { return places_[place].load(std::memory_order_acquire); }

 private:
  template <std::size_t... place>
  static constexpr auto make(std::index_sequence<place...>) {
    return std::array<typename Kind::Function*, most>{Kind::template function<place>...};
  }

  inline static std::array<std::atomic<Procedure>, most> places_ = {};
  inline static constexpr auto functions_ = make(std::make_index_sequence<most>{});
};

}  // namespace heddle::fortran
