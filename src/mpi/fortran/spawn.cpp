// Commands and arguments of programs to start: arrays of characters of one length, which end with a blank one.
#include <vector>

#include "mpi/fortran/arguments.hpp"
#include "mpi/fortran/calls.hpp"

namespace heddle::fortran::calls {
namespace {

// The element at `from`, and every `stride`-th after it, up to the first that is blank.
class Words {
 public:
  Words(const char* from, std::size_t length, std::size_t stride) {
    for (;; from += length * stride) {
      auto word = std::make_unique<Word>(from, length);
      const char* text = *word;
      if (*text == '\0') break;
      words_.push_back(std::move(word));
    }
    for (auto& word : words_) pointers_.push_back(*word);
    pointers_.push_back(nullptr);
  }
  char** data() { return pointers_.data(); }

 private:
  std::vector<std::unique_ptr<Word>> words_;
  std::vector<char*> pointers_;
};

// At other ranks than the root, the arguments about the program are not read.
bool is_root(const Fint* root, MPI_Comm comm) {
  int rank = MPI_PROC_NULL;
  return MPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == integer(root);
}

// The codes of all programs, as many as the root has requested; elsewhere that is unknown, and not needed.
class Codes {
 public:
  Codes(Fint* to, std::ptrdiff_t size) : to_(is_errcodes_ignore(to) ? nullptr : to), values_(to_ ? size : 0) {
    for (std::ptrdiff_t i = 0; i < values_.size(); ++i) values_[i] = MPI_SUCCESS;
  }
  Codes(const Codes&) = delete;
  ~Codes() {
    for (std::ptrdiff_t i = 0; i < values_.size(); ++i) to_[i] = values_[i];
  }
  operator int*() { return to_ ? values_.data() : MPI_ERRCODES_IGNORE; }

 private:
  Fint* to_;
  Array<int> values_;
};

}  // namespace

void comm_spawn(const char* command, const char* argv, const Fint* maxprocs, const Fint* info, const Fint* root,
                const Fint* comm, Fint* intercomm, Fint* errcodes, Fint* ierror, std::size_t command_length,
                std::size_t argv_length) {
  const auto c_comm = handle<MPI_Comm>(*comm);
  const bool here = is_root(root, c_comm);
  std::unique_ptr<Words> words;
  if (here && !is_argv_null(argv)) words = std::make_unique<Words>(argv, argv_length, 1);
  give(ierror, MPI_Comm_spawn(Word(command, here ? command_length : 0), words ? words->data() : MPI_ARGV_NULL,
                              integer(maxprocs), here ? handle<MPI_Info>(*info) : MPI_INFO_NULL, integer(root), c_comm,
                              HandleOut<MPI_Comm>(intercomm), Codes(errcodes, integer(maxprocs))));
}

void comm_spawn_multiple(const Fint* count, const char* commands, const char* argvs, const Fint* maxprocs,
                         const Fint* infos, const Fint* root, const Fint* comm, Fint* intercomm, Fint* errcodes,
                         Fint* ierror, std::size_t command_length, std::size_t argv_length) {
  const auto c_comm = handle<MPI_Comm>(*comm);
  const int programs = is_root(root, c_comm) ? integer(count) : 0;
  std::vector<std::unique_ptr<Word>> names;
  std::vector<char*> pointers;
  std::vector<std::unique_ptr<Words>> words;
  std::vector<char**> arguments;
  std::ptrdiff_t processes = 0;
  for (int i = 0; i < programs; ++i) {
    names.push_back(std::make_unique<Word>(commands + static_cast<std::size_t>(i) * command_length, command_length));
    pointers.push_back(*names.back());
    processes += to_int(maxprocs[i]);
    if (is_argvs_null(argvs)) continue;
    words.push_back(std::make_unique<Words>(argvs + static_cast<std::size_t>(i) * argv_length, argv_length,
                                            static_cast<std::size_t>(programs)));
    arguments.push_back(words.back()->data());
  }
  give(ierror, MPI_Comm_spawn_multiple(programs, pointers.data(), words.empty() ? MPI_ARGVS_NULL : arguments.data(),
                                       Ints(maxprocs, programs), Handles<MPI_Info>(infos, programs), integer(root),
                                       c_comm, HandleOut<MPI_Comm>(intercomm), Codes(errcodes, processes)));
}

}  // namespace heddle::fortran::calls
