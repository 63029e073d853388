// Nonblocking access of a process alone, also by collective routines, needs no further call of MPI: the data arrive while the program
// does something else.
#include <fcntl.h>

#include <chrono>
#include <thread>
#include <vector>

#include "mpi/io/file.hpp"

namespace {

using test::check;

constexpr int bytes = 200'000;

unsigned char value(int part, int i) { return static_cast<unsigned char>(1 + (part * 31 + i) % 250); }

// Without MPI, and bounded: what never comes true fails.
template <class F>
void wait_until(F&& holds, const char* what) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!holds()) {
    check(std::chrono::steady_clock::now() < end, what);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// True if the file's byte `at` has this value.
bool has(const std::string& name, long at, unsigned char expected) {
  unsigned char found = 0;
  const int descriptor = open(name.c_str(), O_RDONLY);
  const bool there = pread(descriptor, &found, 1, at) == 1;
  close(descriptor);
  return there && found == expected;
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  const std::string name = "heddle-io-background-" + std::to_string(getpid());
  const test::SharedFile file(name, 0, MPI_INFO_NULL, MPI_COMM_SELF);
  std::vector<unsigned char> data(bytes);
  for (int part = 0; part < 4; ++part) {
    const bool together = part % 2 != 0;
    const int stride = part < 2 ? 1 : 5;  // of the view, in its bytes
    MPI_Datatype spread;
    MPI_Type_create_resized(MPI_BYTE, 0, stride, &spread);
    MPI_Type_commit(&spread);
    MPI_File_set_view(file, 0, MPI_BYTE, spread, "native", MPI_INFO_NULL);
    for (int i = 0; i < bytes; ++i) data[static_cast<std::size_t>(i)] = value(part, i);
    MPI_Request request;
    if (together)
      MPI_File_iwrite_at_all(file, 0, data.data(), bytes, MPI_BYTE, &request);
    else
      MPI_File_iwrite_at(file, 0, data.data(), bytes, MPI_BYTE, &request);
    wait_until(
        [&] {
          return has(name, 0, value(part, 0)) && has(name, long{bytes - 2} * stride, value(part, bytes - 2)) &&
                 has(name, long{bytes - 1} * stride, value(part, bytes - 1));
        },
        "what was written does not arrive without a call of MPI");
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    std::vector<unsigned char> back(bytes);
    const volatile unsigned char* first = back.data();
    const volatile unsigned char* last = &back.back();
    if (together)
      MPI_File_iread_at_all(file, 0, back.data(), bytes, MPI_BYTE, &request);
    else
      MPI_File_iread_at(file, 0, back.data(), bytes, MPI_BYTE, &request);
    wait_until([&] { return *first == value(part, 0) && *last == value(part, bytes - 1); },
               "what is read does not arrive without a call of MPI");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(back == data, "what was read");
    MPI_Type_free(&spread);
  }
}
