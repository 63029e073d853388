// Words that every rank of a job on one machine sees, by which ranks tell each other something without MPI: a call would make progress,
// and ranks that pretend to be on several nodes share no window. They are in a file beside the program, because the nodes of a
// cluster in a box have a /tmp each.
#pragma once

#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "mpi/check.hpp"

namespace test {

class Board {
 public:
  using Word = std::atomic<int>;
  static constexpr int words = 1024;

  // Collective over MPI_COMM_WORLD; all words are 0.
  Board() {
    std::array<char, PATH_MAX> name{};
    int file = -1;
    if (rank() == 0) {
      const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
      std::snprintf(name.data(), name.size(), "%s/board-XXXXXX", program.parent_path().c_str());
      file = mkstemp(name.data());
      check(file >= 0 && ftruncate(file, sizeof(Word) * words) == 0, "a file for the board");
    }
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank() != 0) file = open(name.data(), O_RDWR);
    void* const memory = mmap(nullptr, sizeof(Word) * words, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    check(file >= 0 && memory != MAP_FAILED, "the board");
    close(file);
    word_ = static_cast<Word*>(memory);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0) unlink(name.data());
  }
  ~Board() { munmap(word_, sizeof(Word) * words); }
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  Word& operator[](int i) const { return word_[i]; }
  // Until a word is at least so much.
  void await(int i, int value) const {
    while (word_[i].load() < value) usleep(100);
  }

 private:
  Word* word_ = nullptr;
};

}  // namespace test
