// Independent and collective writes of short runs that lie close together: every byte that is given arrives, concurrent writes of
// others into the gaps stay, and the system calls do not grow with the runs.
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <cinttypes>
#include <cstdio>
#include <initializer_list>
#include <thread>
#include <vector>

#include "mpi/io/file.hpp"

namespace {

using test::check;
using test::equal;

constexpr int runs = 4000;
constexpr int rounds = 2;

// The ranks have `block` bytes each of every tile of the file; as much at its end belongs to no view.
struct Layout {
  int block;
  int tile() const { return block * (test::size() + 1); }
};

unsigned char value(int rank, int round, long i) {
  return static_cast<unsigned char>(1 + (rank * 53 + round * 7 + i) % 250);
}

void set_view(MPI_File file, Layout layout, int place) {
  MPI_Datatype block, type;
  MPI_Type_contiguous(layout.block, MPI_BYTE, &block);
  MPI_Type_create_resized(block, 0, layout.tile(), &type);
  MPI_Type_commit(&type);
  equal(MPI_File_set_view(file, static_cast<MPI_Offset>(layout.block) * place, MPI_BYTE, type, "native", MPI_INFO_NULL),
        MPI_SUCCESS, "set_view");
  MPI_Type_free(&block);
  MPI_Type_free(&type);
}

// System calls of this thread that write.
std::uint64_t calls_of_writing() {
  std::uint64_t calls = 0;
  if (std::FILE* counts = std::fopen("/proc/thread-self/io", "r")) {
    char line[64];
    while (std::fgets(line, sizeof line, counts) != nullptr) std::sscanf(line, "syscw: %" SCNu64, &calls);
    std::fclose(counts);
  }
  return calls;
}

// Where the library maps files; it does so on others, too, of which this test knows nothing.
bool maps_files() {
  struct statfs system {};
  return statfs(".", &system) == 0 && (system.f_type == EXT4_SUPER_MAGIC || system.f_type == TMPFS_MAGIC);
}

// The part of each tile that is in no view.
void write_gaps(const std::string& name, Layout layout, int round) {
  const int descriptor = open(name.c_str(), O_WRONLY);
  const std::vector<unsigned char> data(static_cast<std::size_t>(layout.block), value(test::size(), round, 0));
  for (int i = 0; i < runs / 10; ++i) {
    const auto at = static_cast<off_t>(i) * layout.tile() + layout.block * test::size();
    equal(pwrite(descriptor, data.data(), data.size(), at), layout.block, "a gap");
  }
  close(descriptor);
}

void compare(const std::string& name, Layout layout, int round) {
  std::vector<unsigned char> file(static_cast<std::size_t>(layout.tile()) * runs);
  const int descriptor = open(name.c_str(), O_RDONLY);
  const ssize_t length = pread(descriptor, file.data(), file.size(), 0);
  close(descriptor);
  equal(length, static_cast<long long>(file.size()) - layout.block,
        "the file's length");  // up to the last view's last run
  long wrong = 0;
  for (int i = 0; i < runs; ++i) {
    for (int rank = 0; rank <= test::size(); ++rank) {
      for (int k = 0; k < layout.block; ++k) {
        const auto at = static_cast<std::size_t>(i) * static_cast<std::size_t>(layout.tile()) +
                        static_cast<std::size_t>(rank * layout.block + k);
        const bool is_gap = rank == test::size();
        const unsigned char expected = !is_gap         ? value(rank, round, static_cast<long>(i) * layout.block + k)
                                       : i < runs / 10 ? value(rank, round, 0)
                                                       : 0;
        wrong += file[at] != expected;
      }
    }
  }
  equal(wrong, 0, "wrong bytes");
}

void write_all(Layout layout, int amode, bool atomic, bool together) {
  const std::string name = test::file_name_for_all("strided");
  const bool writes_gaps = test::rank() == test::size() - 1;
  {
    MPI_File file;
    equal(MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_CREATE | amode, MPI_INFO_NULL, &file), MPI_SUCCESS,
          "open");
    set_view(file, layout, test::rank());
    if (atomic) MPI_File_set_atomicity(file, 1);
    std::vector<unsigned char> data(static_cast<std::size_t>(runs * layout.block));
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < data.size(); ++i) data[i] = value(test::rank(), round, static_cast<long>(i));
      MPI_Barrier(MPI_COMM_WORLD);
      std::thread gaps;
      if (writes_gaps) gaps = std::thread(write_gaps, name, layout, round);
      const std::uint64_t before = calls_of_writing();
      MPI_Status status;
      const int n = static_cast<int>(data.size());
      equal(together ? MPI_File_write_at_all(file, 0, data.data(), n, MPI_BYTE, &status)
                     : MPI_File_write_at(file, 0, data.data(), n, MPI_BYTE, &status),
            MPI_SUCCESS, "write");
      equal(test::count_of(status, MPI_BYTE), n, "count");
      const std::uint64_t calls = calls_of_writing() - before;
      if (maps_files()) check(calls < runs / 20, "as many system calls as runs");
      if (writes_gaps) gaps.join();
      MPI_Barrier(MPI_COMM_WORLD);
      if (test::rank() == 0) compare(name, layout, round);
    }
    MPI_File_close(&file);
  }
  if (test::rank() == 0) unlink(name.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  for (const int block : {8, 100}) {
    for (const bool together : {false, true}) {
      write_all({block}, MPI_MODE_RDWR, false, together);
      write_all({block}, MPI_MODE_WRONLY, false, together);
      write_all({block}, MPI_MODE_RDWR, true, together);
    }
  }
}
