// Each routine that reads or writes, with interleaved views: a round of writes, and a round of reads that must find
// them.
#include <functional>
#include <numeric>
#include <vector>

#include "mpi/io/file.hpp"

namespace {

using test::check;
using test::count_of;
using test::equal;

constexpr int blocks = 50;
constexpr int block = 3;  // ints, of each rank in turn
constexpr int ints = blocks * block;

int value(int rank, int round, int i) { return (rank << 24) ^ (round << 16) ^ i; }

std::vector<int> pattern(int rank, int round) {
  std::vector<int> data(ints);
  for (int i = 0; i < ints; ++i) data[static_cast<std::size_t>(i)] = value(rank, round, i);
  return data;
}

// The arguments of a routine: the file, a buffer of `ints` ints, and where the status goes.
struct Call {
  MPI_File file;
  int* data;
  MPI_Status* status;
};
using Routine = std::function<int(const Call&)>;

struct Pair {
  const char* name;
  Routine write;
  Routine read;
  bool shared = false;   // by the shared pointer, so that the ranks' parts are in any order
  bool ordered = false;  // ... in the order of ranks
};

// A nonblocking routine and its end.
template <class Start>
Routine waited(Start start) {
  return [start](const Call& c) {
    MPI_Request request;
    const int code = start(c, &request);
    if (code != MPI_SUCCESS) return code;
    return MPI_Wait(&request, c.status);
  };
}

int rewind(const Call& c) { return MPI_File_seek(c.file, 0, MPI_SEEK_SET); }

const Pair pairs[] = {
    {"_at", [](const Call& c) { return MPI_File_write_at(c.file, 0, c.data, ints, MPI_INT, c.status); },
     [](const Call& c) { return MPI_File_read_at(c.file, 0, c.data, ints, MPI_INT, c.status); }},
    {"_at_all", [](const Call& c) { return MPI_File_write_at_all(c.file, 0, c.data, ints, MPI_INT, c.status); },
     [](const Call& c) { return MPI_File_read_at_all(c.file, 0, c.data, ints, MPI_INT, c.status); }},
    {"_at_c", [](const Call& c) { return MPI_File_write_at_c(c.file, 0, c.data, ints, MPI_INT, c.status); },
     [](const Call& c) { return MPI_File_read_at_c(c.file, 0, c.data, ints, MPI_INT, c.status); }},
    {"i_at",
     waited([](const Call& c, MPI_Request* r) { return MPI_File_iwrite_at(c.file, 0, c.data, ints, MPI_INT, r); }),
     waited([](const Call& c, MPI_Request* r) { return MPI_File_iread_at(c.file, 0, c.data, ints, MPI_INT, r); })},
    {"i_at_all",
     waited([](const Call& c, MPI_Request* r) { return MPI_File_iwrite_at_all(c.file, 0, c.data, ints, MPI_INT, r); }),
     waited([](const Call& c, MPI_Request* r) { return MPI_File_iread_at_all(c.file, 0, c.data, ints, MPI_INT, r); })},
    {"", [](const Call& c) { return rewind(c), MPI_File_write(c.file, c.data, ints, MPI_INT, c.status); },
     [](const Call& c) { return rewind(c), MPI_File_read(c.file, c.data, ints, MPI_INT, c.status); }},
    {"_all", [](const Call& c) { return rewind(c), MPI_File_write_all(c.file, c.data, ints, MPI_INT, c.status); },
     [](const Call& c) { return rewind(c), MPI_File_read_all(c.file, c.data, ints, MPI_INT, c.status); }},
    {"i",
     waited([](const Call& c, MPI_Request* r) { return rewind(c), MPI_File_iwrite(c.file, c.data, ints, MPI_INT, r); }),
     waited([](const Call& c, MPI_Request* r) { return rewind(c), MPI_File_iread(c.file, c.data, ints, MPI_INT, r); })},
    {"i_all", waited([](const Call& c, MPI_Request* r) {
       return rewind(c), MPI_File_iwrite_all(c.file, c.data, ints, MPI_INT, r);
     }),
     waited([](const Call& c, MPI_Request* r) {
       return rewind(c), MPI_File_iread_all(c.file, c.data, ints, MPI_INT, r);
     })},
    {"_at_all_begin",
     [](const Call& c) {
       MPI_File_write_at_all_begin(c.file, 0, c.data, ints, MPI_INT);
       return MPI_File_write_at_all_end(c.file, c.data, c.status);
     },
     [](const Call& c) {
       MPI_File_read_at_all_begin(c.file, 0, c.data, ints, MPI_INT);
       return MPI_File_read_at_all_end(c.file, c.data, c.status);
     }},
    {"_all_begin",
     [](const Call& c) {
       rewind(c);
       MPI_File_write_all_begin(c.file, c.data, ints, MPI_INT);
       return MPI_File_write_all_end(c.file, c.data, c.status);
     },
     [](const Call& c) {
       rewind(c);
       MPI_File_read_all_begin(c.file, c.data, ints, MPI_INT);
       return MPI_File_read_all_end(c.file, c.data, c.status);
     }},
    {"_shared", [](const Call& c) { return MPI_File_write_shared(c.file, c.data, ints, MPI_INT, c.status); },
     [](const Call& c) { return MPI_File_read_shared(c.file, c.data, ints, MPI_INT, c.status); }, true},
    {"i_shared",
     waited([](const Call& c, MPI_Request* r) { return MPI_File_iwrite_shared(c.file, c.data, ints, MPI_INT, r); }),
     waited([](const Call& c, MPI_Request* r) { return MPI_File_iread_shared(c.file, c.data, ints, MPI_INT, r); }),
     true},
    {"_ordered", [](const Call& c) { return MPI_File_write_ordered(c.file, c.data, ints, MPI_INT, c.status); },
     [](const Call& c) { return MPI_File_read_ordered(c.file, c.data, ints, MPI_INT, c.status); }, true, true},
    {"_ordered_begin",
     [](const Call& c) {
       MPI_File_write_ordered_begin(c.file, c.data, ints, MPI_INT);
       return MPI_File_write_ordered_end(c.file, c.data, c.status);
     },
     [](const Call& c) {
       MPI_File_read_ordered_begin(c.file, c.data, ints, MPI_INT);
       return MPI_File_read_ordered_end(c.file, c.data, c.status);
     },
     true, true},
};

// Ranks take turns with a block each.
void set_interleaved_view(MPI_File file) {
  MPI_Datatype mine, filetype;
  MPI_Type_contiguous(block, MPI_INT, &mine);
  MPI_Type_create_resized(mine, 0, static_cast<MPI_Aint>(sizeof(int)) * block * test::size(), &filetype);
  MPI_Type_commit(&filetype);
  const auto displacement = static_cast<MPI_Offset>(sizeof(int)) * block * test::rank();
  equal(MPI_File_set_view(file, displacement, MPI_INT, filetype, "native", MPI_INFO_NULL), MPI_SUCCESS, "set_view");
  MPI_Type_free(&mine);
  MPI_Type_free(&filetype);
}

// The whole file, as rank 0 of no view reads it.
void check_interleaved(const std::string& name, int round) {
  const int n = test::size();
  std::vector<int> all(static_cast<std::size_t>(n * ints));
  MPI_File file;
  MPI_File_open(MPI_COMM_SELF, name.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  MPI_Status status;
  MPI_File_read(file, all.data(), n * ints, MPI_INT, &status);
  equal(count_of(status, MPI_INT), n * ints, "the file's length");
  for (int i = 0; i < n * ints; ++i) {
    const int rank = i / block % n;
    const int index = i / block / n * block + i % block;
    equal(all[static_cast<std::size_t>(i)], value(rank, round, index), "what the file has");
  }
  MPI_File_close(&file);
}

void exchange(const Pair& pair, const std::string& name, int round) {
  const test::SharedFile file(name);
  if (!pair.shared) set_interleaved_view(file);
  std::vector<int> data = pattern(test::rank(), round);
  MPI_Status status;
  const auto call = [&](const Routine& routine) {
    equal(routine({file, data.data(), &status}), MPI_SUCCESS, pair.name);
    equal(count_of(status, MPI_INT), ints, pair.name);
    int elements;
    MPI_Get_elements(&status, MPI_INT, &elements);
    equal(elements, ints, pair.name);
  };
  call(pair.write);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!pair.shared) check_interleaved(name, round);
  MPI_Barrier(MPI_COMM_WORLD);
  if (pair.shared) MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  std::fill(data.begin(), data.end(), -1);
  call(pair.read);
  const int from = pair.shared && !pair.ordered ? data[0] >> 24 : test::rank();
  check(data == pattern(from, round), pair.name);
  MPI_Offset position;
  if (pair.shared) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_position_shared(file, &position);
    equal(position, static_cast<MPI_Offset>(sizeof(int)) * ints * test::size(), "shared position");
  }
  // Nothing is behind the end.
  if (pair.shared) {
    call([&](const Call& c) { return MPI_File_seek_shared(file, 0, MPI_SEEK_SET), pair.read(c); });
    MPI_Barrier(MPI_COMM_WORLD);
    pair.read({file, data.data(), &status});
    equal(count_of(status, MPI_INT), 0, "at the end");
  }
  int ranks[256] = {};  // each part was read by one
  MPI_Allgather(&from, 1, MPI_INT, ranks, 1, MPI_INT, MPI_COMM_WORLD);
  equal(std::accumulate(ranks, ranks + test::size(), 0), test::size() * (test::size() - 1) / 2, "each part once");
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  const std::string name = test::file_name_for_all("routines");
  int round = 0;
  for (const Pair& pair : pairs) exchange(pair, name, ++round);
}
