// Several collective operations on one file at the same time, each rank advancing them when it likes, and blocking ones between them.
// Random choices follow from the seed.
//
//   outstanding [SEED [PROGRAMS]]
#include <chrono>
#include <thread>
#include <vector>

#include "mpi/io/file.hpp"

namespace {

using test::equal;
using Random = std::mt19937;

int draw(Random& random, int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); }

constexpr int block = 40;        // bytes, of each rank in turn
constexpr int longest = 20'000;  // of a rank's part of an operation

// One of a program's operations, as all ranks know it: from where on in every rank's view, and how long each rank's part is.
struct Operation {
  MPI_Offset position;
  std::vector<int> bytes;
  bool blocking;
};

std::vector<Operation> draw_operations(Random& random) {
  std::vector<Operation> operations(static_cast<std::size_t>(draw(random, 2, 6)));
  MPI_Offset position = 0;
  for (Operation& operation : operations) {
    operation = {position, {}, draw(random, 0, 3) == 0};
    for (int r = 0; r < test::size(); ++r)
      operation.bytes.push_back(draw(random, 0, 3) == 0 ? draw(random, 0, block) : draw(random, 0, longest));
    position += longest;
  }
  return operations;
}

unsigned char value(int rank, std::size_t operation, int i) {
  return static_cast<unsigned char>(1 + (rank * 131 + static_cast<int>(operation) * 31 + i * 7 + i / 251) % 255);
}

// The action of this rank between two calls: nothing, a pause, or some progress.
void dawdle(Random& of_rank, std::vector<MPI_Request>& requests) {
  const int kind = draw(of_rank, 0, 2);
  if (kind == 1) std::this_thread::sleep_for(std::chrono::microseconds(draw(of_rank, 0, 500)));
  int done = 0;
  for (int polls = kind == 2 ? draw(of_rank, 1, 20) : 0; polls > 0; --polls)
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
}

void run(MPI_File file, bool write, const std::vector<Operation>& operations, Random& of_rank) {
  const auto me = static_cast<std::size_t>(test::rank());
  std::vector<std::vector<unsigned char>> data;
  std::vector<MPI_Request> requests;
  for (std::size_t o = 0; o < operations.size(); ++o) {
    const auto& [position, bytes, blocking] = operations[o];
    auto& buffer = data.emplace_back(static_cast<std::size_t>(bytes[me]));
    for (int i = 0; write && i < bytes[me]; ++i) buffer[static_cast<std::size_t>(i)] = value(test::rank(), o, i);
    MPI_Status status;
    if (blocking) {
      equal(write ? MPI_File_write_at_all(file, position, buffer.data(), bytes[me], MPI_BYTE, &status)
                  : MPI_File_read_at_all(file, position, buffer.data(), bytes[me], MPI_BYTE, &status),
            MPI_SUCCESS, "a blocking call");
      equal(test::count_of(status, MPI_BYTE), bytes[me], "bytes of a blocking call");
    } else {
      MPI_Request& request = requests.emplace_back();
      equal(write ? MPI_File_iwrite_at_all(file, position, buffer.data(), bytes[me], MPI_BYTE, &request)
                  : MPI_File_iread_at_all(file, position, buffer.data(), bytes[me], MPI_BYTE, &request),
            MPI_SUCCESS, "a nonblocking call");
    }
    dawdle(of_rank, requests);
  }
  equal(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS, "waitall");
  for (std::size_t o = 0; !write && o < operations.size(); ++o)
    for (int i = 0; i < operations[o].bytes[me]; ++i)
      equal(data[o][static_cast<std::size_t>(i)], value(test::rank(), o, i), "what was read");
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  const unsigned seed = test::seed(argc, argv);
  const int programs = argc > 2 ? std::atoi(argv[2]) : 16;
  const std::string name = test::file_name_for_all("outstanding");
  for (int p = 0; p < programs; ++p) {
    Random random(seed + static_cast<unsigned>(p));
    Random of_rank(seed + static_cast<unsigned>(p * 1000 + test::rank()));
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", draw(random, 0, 1) != 0 ? "4096" : "65536");
    const test::SharedFile file(name, 0, info);
    MPI_Info_free(&info);
    MPI_Datatype piece, filetype;
    MPI_Type_contiguous(block, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, block * test::size(), &filetype);
    MPI_Type_commit(&filetype);
    MPI_File_set_view(file, block * test::rank(), MPI_BYTE, filetype, "native", MPI_INFO_NULL);
    MPI_Type_free(&piece);
    MPI_Type_free(&filetype);
    const std::vector<Operation> operations = draw_operations(random);
    run(file, true, operations, of_rank);
    MPI_Barrier(MPI_COMM_WORLD);
    run(file, false, operations, of_rank);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}
