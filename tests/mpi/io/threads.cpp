// Threads of every rank on one file handle: individual and shared pointers lose nothing, and nonblocking operations of
// many threads are under way at once.
#include <algorithm>
#include <thread>
#include <vector>

#include "mpi/io/file.hpp"

namespace {

using test::equal;

constexpr int threads = 4;
constexpr int each = 60;

struct Record {
  int rank, thread, number, check;
};

Record record(int thread, int number) {
  return {test::rank(), thread, number, test::rank() * 7919 + thread * 104729 + number};
}

template <class F>
void in_threads(F&& body) {
  std::vector<std::thread> all;
  all.reserve(threads);
  for (int t = 0; t < threads; ++t) all.emplace_back(body, t);
  for (std::thread& thread : all) thread.join();
}

// Every record of every rank is there once.
void compare(MPI_File file) {
  const int n = test::size() * threads * each;
  std::vector<Record> all(static_cast<std::size_t>(n) + 1);
  MPI_Status status;
  MPI_File_read_at(file, 0, all.data(), (n + 1) * 4, MPI_INT, &status);
  equal(test::count_of(status, MPI_INT), n * 4, "length");
  std::vector<bool> seen(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    const Record& r = all[static_cast<std::size_t>(i)];
    equal(r.check, r.rank * 7919 + r.thread * 104729 + r.number, "a record is whole");
    const auto at = static_cast<std::size_t>((r.rank * threads + r.thread) * each + r.number);
    equal(seen[at], false, "a record is there once");
    seen[at] = true;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  const std::string name = test::file_name_for_all("threads");
  {
    const test::SharedFile file(name);
    in_threads([&](int t) {
      for (int i = 0; i < each; ++i) {
        const Record r = record(t, i);
        equal(MPI_File_write_shared(file, &r, 4, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS, "write_shared");
      }
    });
    MPI_Barrier(MPI_COMM_WORLD);
    compare(file);
  }
  {
    const test::SharedFile file(name);
    MPI_Datatype filetype;
    MPI_Type_create_resized(MPI_INT, 0, sizeof(int), &filetype);
    MPI_Type_commit(&filetype);
    MPI_File_set_view(file, static_cast<MPI_Offset>(sizeof(Record)) * threads * each * test::rank(), MPI_INT, filetype,
                      "native", MPI_INFO_NULL);
    MPI_Type_free(&filetype);
    in_threads([&](int t) {
      std::vector<Record> records(each);
      std::vector<MPI_Request> requests(each);
      for (int i = 0; i < each; ++i) {
        const auto at = static_cast<std::size_t>(i);
        records[at] = record(t, i);
        MPI_File_iwrite(file, &records[at], 4, MPI_INT, &requests[at]);
      }
      equal(MPI_Waitall(each, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS, "iwrite");
    });
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    compare(file);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}
