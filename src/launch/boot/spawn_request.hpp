// The request of a rank that spawns processes to mpiexec (mpi/dpm/spawn.cpp), and mpiexec's answer. Both are text
// (sequence.hpp) over mpiexec's socket (launcher_socket.hpp).
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "launch/boot/sequence.hpp"

namespace heddle::boot {

struct SpawnProgram {
  std::vector<std::string> command;  // the program and its arguments
  int ranks = 0;
  std::vector<int> fewer;          // smaller acceptable numbers of ranks; ascending
  std::string directory;           // absolute: the working directory, and the base of a name with a slash
  std::string search_path;         // directories that are searched before those of PATH
  std::vector<std::string> hosts;  // names that must be this machine's
  std::string initial_errhandler;  // empty: mpiexec's
};

struct SpawnRequest {
  std::uint64_t key = 0;       // of the job
  int asker = 0;               // the requesting rank of the job
  std::uint64_t greeting = 0;  // context in which that rank will connect to the first of the new ones
  std::vector<SpawnProgram> programs;
};

struct SpawnAnswer {
  std::string problem;       // the reason why nothing was started; empty: it was
  int first = 0;             // the first of the new ranks, which have consecutive numbers in the job
  std::vector<int> started;  // ranks of each program
  int failed_program = -1;   // index of the program with the problem; -1: all
};

template <class Request, class F>
requires std::same_as<std::remove_const_t<Request>, SpawnProgram>
void for_each_field(Request& program, F& f) {
  f(program.command);
  f(program.ranks);
  f(program.fewer);
  f(program.directory);
  f(program.search_path);
  f(program.hosts);
  f(program.initial_errhandler);
}
template <class Request, class F>
requires std::same_as<std::remove_const_t<Request>, SpawnRequest>
void for_each_field(Request& request, F& f) {
  f(request.key);
  f(request.asker);
  f(request.greeting);
  f(request.programs);
}
template <class Answer, class F>
requires std::same_as<std::remove_const_t<Answer>, SpawnAnswer>
void for_each_field(Answer& answer, F& f) {
  f(answer.problem);
  f(answer.first);
  f(answer.started);
  f(answer.failed_program);
}

}  // namespace heddle::boot
