// Every send mode, blocking and not, at sizes on both sides of every protocol's border, expected and unexpected, in
// contiguous and strided layouts.
#include <cstdlib>
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::equal;

constexpr int sizes[] = {0,    1,     8,     40,    41,    104,    105,    1000,   4096,
                         4097, 16376, 16384, 16385, 65536, 131071, 131072, 200000, 1 << 20};

void fill(std::vector<unsigned char>& data, int salt) {
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<unsigned char>(i * 7 + i / 256 + salt);
}

enum Mode { standard, synchronous, buffered, ready, isend, issend, ibsend, irsend, modes };

void send(Mode mode, const void* data, int count, MPI_Datatype type, int peer, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  switch (mode) {
    case standard:
      MPI_Send(data, count, type, peer, tag, MPI_COMM_WORLD);
      break;
    case synchronous:
      MPI_Ssend(data, count, type, peer, tag, MPI_COMM_WORLD);
      break;
    case buffered:
      MPI_Bsend(data, count, type, peer, tag, MPI_COMM_WORLD);
      break;
    case ready:
      MPI_Rsend(data, count, type, peer, tag, MPI_COMM_WORLD);
      break;
    case isend:
      MPI_Isend(data, count, type, peer, tag, MPI_COMM_WORLD, &request);
      break;
    case issend:
      MPI_Issend(data, count, type, peer, tag, MPI_COMM_WORLD, &request);
      break;
    case ibsend:
      MPI_Ibsend(data, count, type, peer, tag, MPI_COMM_WORLD, &request);
      break;
    case irsend:
      MPI_Irsend(data, count, type, peer, tag, MPI_COMM_WORLD, &request);
      break;
    case modes:
      break;
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(request == MPI_REQUEST_NULL, "wait sets the handle to null");
}

// One message from rank 0 to rank 1; `posted`: the receive is there first.
void exchange(Mode mode, int bytes, bool posted, bool strided) {
  const int tag = 1 + mode;
  char token = 0;
  // Does the send return although there is no receive yet? Then the receive waits until it has, and finds the message there.
  static const int eagerly = std::getenv("HEDDLE_NODES") != nullptr ? 1000 : 4096;  // a network may take less
  const bool is_sent_eagerly =
      mode == buffered || mode == ibsend || ((mode == standard || mode == isend) && bytes <= eagerly);
  MPI_Datatype every_second;
  MPI_Type_vector(bytes, 1, 2, MPI_BYTE, &every_second);
  MPI_Type_commit(&every_second);
  const MPI_Datatype type = strided ? every_second : MPI_BYTE;
  const int count = strided ? 1 : bytes;
  const std::size_t step = strided ? 2 : 1;
  std::vector<unsigned char> whole(static_cast<std::size_t>(bytes) * step + 1, 0xee);
  std::vector<unsigned char> expected(static_cast<std::size_t>(bytes));
  fill(expected, mode);
  if (test::rank() == 0) {
    for (std::size_t i = 0; i < expected.size(); ++i) whole[i * step] = expected[i];
    if (posted) MPI_Recv(&token, 1, MPI_BYTE, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    send(mode, whole.data(), count, type, 1, tag);
    if (!posted && is_sent_eagerly) MPI_Send(&token, 1, MPI_BYTE, 1, 98, MPI_COMM_WORLD);
  } else if (test::rank() == 1) {
    MPI_Status status;
    MPI_Request request;
    if (posted) {
      MPI_Irecv(whole.data(), count, type, 0, tag, MPI_COMM_WORLD, &request);
      MPI_Send(&token, 1, MPI_BYTE, 0, 99, MPI_COMM_WORLD);
      MPI_Wait(&request, &status);
    } else {
      if (is_sent_eagerly)
        MPI_Recv(&token, 1, MPI_BYTE, 0, 98, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // the other one is unexpected now
      MPI_Recv(whole.data(), count, type, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
    }
    equal(status.MPI_SOURCE, 0, "source");
    equal(status.MPI_TAG, tag, "tag");
    int got;
    MPI_Get_count(&status, MPI_BYTE, &got);
    equal(got, bytes, "count");
    for (std::size_t i = 0; i < expected.size(); ++i) equal(whole[i * step], expected[i], "data");
    if (strided && bytes > 0) equal(whole[1], 0xee, "the gap is untouched");
  }
  MPI_Type_free(&every_second);
}

}  // namespace

int main(int argc, char** argv) {
  test::Session session(&argc, &argv);
  std::vector<char> buffer((2 << 20) + 4 * MPI_BSEND_OVERHEAD);
  MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
  for (int mode = 0; mode < modes; ++mode)
    for (int bytes : sizes)
      for (bool posted : {true, false})
        for (bool strided : {false, true}) {
          if (!posted && (mode == ready || mode == irsend)) continue;  // erroneous
          exchange(static_cast<Mode>(mode), bytes, posted, strided);
          MPI_Buffer_flush();
        }
  void* address;
  int bytes;
  MPI_Buffer_detach(&address, &bytes);
  check(address == buffer.data(), "detach gives the buffer back");
  equal(bytes, static_cast<int>(buffer.size()), "and its size");
}
