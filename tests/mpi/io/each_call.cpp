// One system call fails, each in turn, by faults.cpp: in a program that opens a file, writes by every kind of routine, sets the file's
// size, flushes, reads and closes. Errors have their classes, members agree where they must, what was reported as written is in the file,
// and a call that is only interrupted is no error.
#include <dlfcn.h>
#include <fcntl.h>

#include <string>
#include <vector>

#include "mpi/io/file.hpp"

namespace {

using test::check;
using test::class_of;
using test::count_of;
using test::equal;

constexpr int blocks = 3;
constexpr int block = 48;
constexpr int bytes = blocks * block;  // of a rank in each part of the file

unsigned char value(int rank, int part, int i) {
  return static_cast<unsigned char>(1 + (rank * 53 + part * 17 + i) % 250);
}

// A rank's data about a run: where it was told that data are written, and what went wrong.
struct Report {
  int expected_class;
  std::vector<int> written;  // bytes of each part, from its beginning on
  int failures = 0;

  // Returns whether the call was well.
  bool note(int code, const char* call) {
    if (code == MPI_SUCCESS) return true;
    equal(class_of(code), expected_class, call);
    ++failures;
    return false;
  }
};

bool all_or_none(bool mine, const char* call) {
  const int one = mine;
  int sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check(sum == 0 || sum == test::size(), call);
  return mine;
}

// Blocks of the ranks in turn; or one part of the file for each rank.
void set_view(MPI_File file, bool interleaved) {
  const int length = interleaved ? block : bytes;
  MPI_Datatype piece, filetype;
  MPI_Type_contiguous(length, MPI_BYTE, &piece);
  MPI_Type_create_resized(piece, 0, length * test::size(), &filetype);
  MPI_Type_commit(&filetype);
  equal(MPI_File_set_view(file, length * test::rank(), MPI_BYTE, filetype, "native", MPI_INFO_NULL), MPI_SUCCESS,
        "set_view");
  MPI_Type_free(&piece);
  MPI_Type_free(&filetype);
}

enum Part { blocking, nonblocking, collective, nonblocking_collective, atomic, contiguous, parts };

int write(MPI_File file, int part, const void* data, MPI_Status* status) {
  MPI_Request request;
  int code = MPI_SUCCESS;
  const MPI_Offset offset = part * bytes;
  switch (part) {
    case collective:
      return MPI_File_write_at_all(file, offset, data, bytes, MPI_BYTE, status);
    case nonblocking_collective:
      code = MPI_File_iwrite_at_all(file, offset, data, bytes, MPI_BYTE, &request);
      break;
    case nonblocking:
    case contiguous:
      code = MPI_File_iwrite_at(file, offset, data, bytes, MPI_BYTE, &request);
      break;
    default:
      return MPI_File_write_at(file, offset, data, bytes, MPI_BYTE, status);
  }
  equal(code, MPI_SUCCESS, "the beginning of a write");
  return MPI_Wait(&request, status);
}

void write_parts(MPI_File file, Report& report) {
  for (int part = 0; part < parts; ++part) {
    std::vector<unsigned char> data(bytes);
    for (int i = 0; i < bytes; ++i) data[static_cast<std::size_t>(i)] = value(test::rank(), part, i);
    if (part == blocking || part == contiguous) set_view(file, part != contiguous);
    if (part == atomic || part == contiguous) MPI_File_set_atomicity(file, part == atomic);
    MPI_Status status;
    const int code = write(file, part, data.data(), &status);
    const bool well = report.note(code, "write");
    if (part == collective || part == nonblocking_collective)
      all_or_none(well, "a collective write of which some members fail");
    const int reported = count_of(status, MPI_BYTE);
    if (well) equal(reported, bytes, "a write that succeeds is whole");
    report.written.push_back(reported);
  }
}

void read_parts(MPI_File file, Report& report) {
  set_view(file, true);
  for (int part = 0; part < contiguous; ++part) {
    std::vector<unsigned char> data(bytes);
    MPI_Status status;
    const bool together = part == collective;
    report.note(together ? MPI_File_read_at_all(file, part * bytes, data.data(), bytes, MPI_BYTE, &status)
                         : MPI_File_read_at(file, part * bytes, data.data(), bytes, MPI_BYTE, &status),
                "read");
    const int known = std::min(count_of(status, MPI_BYTE), report.written[static_cast<std::size_t>(part)]);
    for (int i = 0; i < known; ++i) equal(data[static_cast<std::size_t>(i)], value(test::rank(), part, i), "read");
  }
}

void run(const std::string& name, Report& report) {
  MPI_File file;
  const int opening =
      MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
  if (!all_or_none(report.note(opening, "open"), "an open of which some members fail")) return;
  write_parts(file, report);
  all_or_none(report.note(MPI_File_preallocate(file, 10'000), "preallocate"), "preallocate");
  all_or_none(report.note(MPI_File_set_size(file, parts * bytes * test::size() + 100), "set_size"), "set_size");
  report.note(MPI_File_sync(file), "sync");
  MPI_Offset size = 0;
  report.note(MPI_File_get_size(file, &size), "get_size");
  read_parts(file, report);
  report.note(MPI_File_close(&file), "close");
  check(file == MPI_FILE_NULL, "a file that was closed, well or not, is closed");
}

// By system calls of which none fails.
void check_written(const std::string& name, const Report& report) {
  const int descriptor = open(name.c_str(), O_RDONLY);
  for (int part = 0; part < static_cast<int>(report.written.size()); ++part)
    for (int i = 0; i < report.written[static_cast<std::size_t>(part)]; ++i) {
      const int length = part == contiguous ? bytes : block;
      const int in_stream = part * bytes + i;
      const off_t at = (in_stream / length * test::size() + test::rank()) * length + in_stream % length;
      unsigned char found = 0;
      equal(pread(descriptor, &found, 1, at), 1, "bytes of what was reported as written");
      equal(found, value(test::rank(), part, i), "what was reported as written");
    }
  if (descriptor >= 0) close(descriptor);
}

int sum_of(int mine) {
  int sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

int largest_of(int mine) {
  int largest = 0;
  MPI_Allreduce(&mine, &largest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return largest;
}

// The first call, the second, and so on, until a run has no more.
void sweep(const std::string& name, const std::string& fault, int expected_class) {
  const auto calls = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "heddle_test_calls"));
  const auto faults = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "heddle_test_faults"));
  check(calls != nullptr && faults != nullptr, "faults.cpp is not preloaded");
  int injected = 0, failures = 0;
  bool reached = true;
  for (int n = 0; reached; ++n) {
    setenv("HEDDLE_TEST_FAULT", (fault + ':' + std::to_string(n)).c_str(), 1);
    Report report{expected_class, {}};
    run(name, report);
    reached = largest_of(calls()) > n;
    injected += sum_of(faults());
    failures += sum_of(report.failures);
    unsetenv("HEDDLE_TEST_FAULT");
    check_written(name, report);
    MPI_Barrier(MPI_COMM_WORLD);
    if (test::rank() == 0) unlink(name.c_str());
    MPI_Barrier(MPI_COMM_WORLD);
  }
  check(injected > 2 * parts, "hardly any call was made to fail");
  if (expected_class == MPI_SUCCESS)
    equal(failures, 0, "errors of calls that were interrupted");
  else
    check(failures > parts, "hardly any error was told");
  if (test::rank() == 0) std::printf("%s: %d faults, %d errors\n", fault.c_str(), injected, failures);
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  const std::string name = test::file_name_for_all("each-call");
  sweep(name, "once-io", MPI_ERR_IO);
  sweep(name, "once-space", MPI_ERR_NO_SPACE);
  sweep(name, "once-interrupted", MPI_SUCCESS);
}
