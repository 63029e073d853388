// A file system that fails, by faults.cpp: nothing is reported as written that is not there, and errors have their
// classes on every rank that may be concerned. HEDDLE_TEST_FAULT selects the failing call.
#include <fcntl.h>

#include <string_view>
#include <vector>

#include "mpi/io/file.hpp"

namespace {

using test::check;
using test::class_of;
using test::count_of;
using test::equal;

constexpr int blocks = 400;
constexpr int block = 48;
constexpr int bytes = blocks * block;

unsigned char value(int rank, int i) { return static_cast<unsigned char>(1 + (rank * 53 + i) % 250); }

void set_view(MPI_File file) {
  MPI_Datatype filetype;
  MPI_Type_contiguous(block, MPI_BYTE, &filetype);
  MPI_Datatype resized;
  MPI_Type_create_resized(filetype, 0, block * test::size(), &resized);
  MPI_Type_commit(&resized);
  MPI_File_set_view(file, block * test::rank(), MPI_BYTE, resized, "native", MPI_INFO_NULL);
  MPI_Type_free(&filetype);
  MPI_Type_free(&resized);
}

// How many bytes of this rank's stream the file has from the beginning on, by system calls of which none fails.
int present(const std::string& name) {
  std::vector<unsigned char> file(static_cast<std::size_t>(bytes * test::size()));
  std::FILE* stream = std::fopen(name.c_str(), "rb");
  const std::size_t n = std::fread(file.data(), 1, file.size(), stream);
  std::fclose(stream);
  for (int i = 0; i < bytes; ++i) {
    const auto at = static_cast<std::size_t>(i / block * block * test::size() + block * test::rank() + i % block);
    if (at >= n || file[at] != value(test::rank(), i)) return i;
  }
  return bytes;
}

int expected_class(std::string_view kind) {
  if (kind == "nospace") return MPI_ERR_NO_SPACE;
  if (kind == "quota") return MPI_ERR_QUOTA;
  return kind == "io" ? MPI_ERR_IO : MPI_SUCCESS;
}

enum class Routine { blocking, nonblocking, collective, nonblocking_collective };

int write(MPI_File file, Routine routine, const void* data, MPI_Status* status) {
  MPI_Request request;
  switch (routine) {
    case Routine::blocking:
      return MPI_File_write_at(file, 0, data, bytes, MPI_BYTE, status);
    case Routine::collective:
      return MPI_File_write_at_all(file, 0, data, bytes, MPI_BYTE, status);
    case Routine::nonblocking:
      MPI_File_iwrite_at(file, 0, data, bytes, MPI_BYTE, &request);
      break;
    default:
      MPI_File_iwrite_at_all(file, 0, data, bytes, MPI_BYTE, &request);
  }
  return MPI_Wait(&request, status);
}

int read(MPI_File file, Routine routine, void* data, MPI_Status* status) {
  MPI_Request request;
  switch (routine) {
    case Routine::blocking:
      return MPI_File_read_at(file, 0, data, bytes, MPI_BYTE, status);
    case Routine::collective:
      return MPI_File_read_at_all(file, 0, data, bytes, MPI_BYTE, status);
    case Routine::nonblocking:
      MPI_File_iread_at(file, 0, data, bytes, MPI_BYTE, &request);
      break;
    default:
      MPI_File_iread_at_all(file, 0, data, bytes, MPI_BYTE, &request);
  }
  return MPI_Wait(&request, status);
}

int handled = 0;
void note(MPI_File*, int*, ...) { ++handled; }

// Each routine in turn, with one kind of fault.
void run(const std::string& name, std::string_view fault, MPI_Errhandler noting) {
  const int expected = expected_class(fault.substr(0, fault.find(':')));
  setenv("HEDDLE_TEST_FAULT", fault.data(), 1);
  std::vector<unsigned char> data(bytes);
  int failures = 0;
  for (const Routine routine :
       {Routine::blocking, Routine::nonblocking, Routine::collective, Routine::nonblocking_collective}) {
    const test::SharedFile file(name);
    MPI_File_set_errhandler(file, noting);
    set_view(file);
    for (int i = 0; i < bytes; ++i) data[static_cast<std::size_t>(i)] = value(test::rank(), i);
    MPI_Status status;
    handled = 0;
    const int code = write(file, routine, data.data(), &status);
    equal(handled, code == MPI_SUCCESS ? 0 : 1, "the file's error handler");
    if (code != MPI_SUCCESS) equal(class_of(code), expected, "class of the error");
    failures += code != MPI_SUCCESS;
    const int reported = count_of(status, MPI_BYTE);
    if (code == MPI_SUCCESS) equal(reported, bytes, "a write that succeeds is whole");
    MPI_Barrier(MPI_COMM_WORLD);
    check(present(name) >= reported, "what was reported as written is in the file");
    MPI_Barrier(MPI_COMM_WORLD);
    if (expected != MPI_SUCCESS) continue;
    std::fill(data.begin(), data.end(), static_cast<unsigned char>(0));
    equal(read(file, routine, data.data(), &status), MPI_SUCCESS, "read");
    equal(count_of(status, MPI_BYTE), bytes, "bytes read");
    for (int i = 0; i < bytes; ++i) equal(data[static_cast<std::size_t>(i)], value(test::rank(), i), "what was read");
  }
  check(expected == MPI_SUCCESS || failures > 0, "nothing has failed");
  unsetenv("HEDDLE_TEST_FAULT");
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  const std::string name = test::file_name_for_all("faulty");
  MPI_Errhandler noting;
  MPI_File_create_errhandler(note, &noting);
  for (const char* fault :
       {"nospace:0", "nospace:2", "quota:1", "io:0", "io:2", "interrupted:0", "interrupted:1", "short:0"})
    run(name, fault, noting);
  MPI_Errhandler_free(&noting);
}
