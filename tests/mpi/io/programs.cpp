// Random programs against a model of the file that every rank computes for itself: interleaved views with holes,
// buffers of any layout, every kind of routine, hints that make rounds many and small. Random choices follow from the seed.
//
//   programs [SEED [PROGRAMS]]
#include <fcntl.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "mpi/io/file.hpp"

namespace {

using test::check;
using test::equal;
using Random = std::mt19937;

int draw(Random& random, int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); }

// ---- The model ----

// A tile of the file has blocks, each of which belongs to a rank or to none (-1).
struct Tile {
  int block;  // bytes
  std::vector<int> owners;
  long long bytes() const { return static_cast<long long>(owners.size()) * block; }
  std::vector<int> of(int rank) const {
    std::vector<int> mine;
    for (std::size_t i = 0; i < owners.size(); ++i)
      if (owners[i] == rank) mine.push_back(static_cast<int>(i));
    return mine;
  }
};

// The action of a rank in a step: from a byte of its view's stream on.
struct Access {
  long long position;
  long long bytes;
};

struct Model {
  Tile tile;
  long long displacement;
  std::vector<unsigned char> bytes;  // of the file

  long long place(const std::vector<int>& mine, long long position) const {
    const long long each = static_cast<long long>(mine.size()) * tile.block;
    const long long within = position % each;
    return displacement + position / each * tile.bytes() +
           static_cast<long long>(mine[static_cast<std::size_t>(within / tile.block)]) * tile.block +
           within % tile.block;
  }
  void write(int rank, const Access& access, int step) {
    const std::vector<int> mine = tile.of(rank);
    for (long long i = 0; i < access.bytes; ++i) {
      const auto at = static_cast<std::size_t>(place(mine, access.position + i));
      if (bytes.size() <= at) bytes.resize(at + 1);
      bytes[at] = value(rank, step, i);
    }
  }
  static unsigned char value(int rank, int step, long long i) {
    return static_cast<unsigned char>(1 + (rank * 131 + step * 31 + i * 7 + i / 251) % 255);
  }
};

Tile random_tile(Random& random, int ranks) {
  constexpr int sizes[] = {1, 2, 4, 24, 100, 1000, 4096, 5000};
  Tile tile{sizes[draw(random, 0, 7)], {}};
  tile.owners.resize(static_cast<std::size_t>(draw(random, ranks, 6 * ranks)));
  const bool holes = draw(random, 0, 1) != 0;
  for (std::size_t i = 0; i < tile.owners.size(); ++i) tile.owners[i] = static_cast<int>(i) % ranks;
  std::shuffle(tile.owners.begin(), tile.owners.end(), random);
  for (int& owner : tile.owners)  // every rank keeps one at least
    if (holes && draw(random, 0, 3) == 0 && std::count(tile.owners.begin(), tile.owners.end(), owner) > 1) owner = -1;
  return tile;
}

// ---- Types ----

// A committed datatype, freed at the end.
struct Type {
  MPI_Datatype handle;
  explicit Type(MPI_Datatype type) : handle(type) { MPI_Type_commit(&handle); }
  ~Type() { MPI_Type_free(&handle); }
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;
};

MPI_Datatype filetype_of(const Tile& tile, int rank) {
  std::vector<int> mine = tile.of(rank);
  MPI_Datatype block, blocks, resized;
  MPI_Type_contiguous(tile.block, MPI_BYTE, &block);
  MPI_Type_create_indexed_block(static_cast<int>(mine.size()), 1, mine.data(), block, &blocks);
  MPI_Type_create_resized(blocks, 0, tile.bytes(), &resized);
  MPI_Type_free(&block);
  MPI_Type_free(&blocks);
  return resized;
}

// `bytes` of data in memory, with or without gaps: where each byte lies.
struct Memory {
  int kind;
  int gap;
  std::vector<unsigned char> data;
  long long bytes;

  Memory(Random& random, long long n) : kind(draw(random, 0, 2)), gap(draw(random, 1, 9)), bytes(n) {
    data.assign(static_cast<std::size_t>(at(n) + 64), 0xEE);
  }
  long long at(long long i) const { return kind == 0 ? i : kind == 1 ? i * (1 + gap) : i / 3 * (3 + gap) + i % 3; }
  // One element is all of it.
  MPI_Datatype type() const {
    MPI_Datatype made;
    if (kind == 0) {
      MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &made);
    } else if (kind == 1) {
      MPI_Type_vector(static_cast<int>(bytes), 1, 1 + gap, MPI_BYTE, &made);
    } else {
      MPI_Datatype most, rest;
      MPI_Type_vector(static_cast<int>(bytes / 3), 3, 3 + gap, MPI_BYTE, &most);
      MPI_Type_contiguous(static_cast<int>(bytes % 3), MPI_BYTE, &rest);
      const int lengths[] = {1, 1};
      const MPI_Aint places[] = {0, static_cast<MPI_Aint>(bytes / 3 * (3 + gap))};
      const MPI_Datatype types[] = {most, rest};
      MPI_Type_create_struct(2, lengths, places, types, &made);
      MPI_Type_free(&most);
      MPI_Type_free(&rest);
    }
    return made;
  }
};

// ---- Routines ----

constexpr int routines = 10;

// By `routine`, from etype `offset` on, one element of the type.
void call(MPI_File file, bool write, int routine, MPI_Offset offset, void* buf, MPI_Datatype type, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (routine % 2 == 1) MPI_File_seek(file, offset, MPI_SEEK_SET);
  const auto ok = [](int code) { equal(code, MPI_SUCCESS, "a routine"); };
  switch (routine) {
    case 0:
      ok(write ? MPI_File_write_at(file, offset, buf, 1, type, status)
               : MPI_File_read_at(file, offset, buf, 1, type, status));
      break;
    case 1:
      ok(write ? MPI_File_write(file, buf, 1, type, status) : MPI_File_read(file, buf, 1, type, status));
      break;
    case 2:
      ok(write ? MPI_File_iwrite_at(file, offset, buf, 1, type, &request)
               : MPI_File_iread_at(file, offset, buf, 1, type, &request));
      break;
    case 3:
      ok(write ? MPI_File_iwrite(file, buf, 1, type, &request) : MPI_File_iread(file, buf, 1, type, &request));
      break;
    case 4:
      ok(write ? MPI_File_write_at_all(file, offset, buf, 1, type, status)
               : MPI_File_read_at_all(file, offset, buf, 1, type, status));
      break;
    case 5:
      ok(write ? MPI_File_write_all(file, buf, 1, type, status) : MPI_File_read_all(file, buf, 1, type, status));
      break;
    case 6:
      ok(write ? MPI_File_iwrite_at_all(file, offset, buf, 1, type, &request)
               : MPI_File_iread_at_all(file, offset, buf, 1, type, &request));
      break;
    case 7:
      ok(write ? MPI_File_iwrite_all(file, buf, 1, type, &request) : MPI_File_iread_all(file, buf, 1, type, &request));
      break;
    case 8:
      ok(write ? MPI_File_write_at_all_begin(file, offset, buf, 1, type)
               : MPI_File_read_at_all_begin(file, offset, buf, 1, type));
      ok(write ? MPI_File_write_at_all_end(file, buf, status) : MPI_File_read_at_all_end(file, buf, status));
      break;
    default:
      ok(write ? MPI_File_write_all_begin(file, buf, 1, type) : MPI_File_read_all_begin(file, buf, 1, type));
      ok(write ? MPI_File_write_all_end(file, buf, status) : MPI_File_read_all_end(file, buf, status));
  }
  if (request != MPI_REQUEST_NULL) ok(MPI_Wait(&request, status));
}

MPI_Info random_hints(Random& random) {
  MPI_Info info;
  MPI_Info_create(&info);
  const auto choose = [&](const char* key, std::initializer_list<const char*> values) {
    const int i = draw(random, 0, static_cast<int>(values.size()));
    if (i > 0) MPI_Info_set(info, key, *(values.begin() + i - 1));
  };
  choose("cb_nodes", {"1", "2", "3", "8"});
  choose("cb_buffer_size", {"4096", "8192", "65536"});
  choose("striping_unit", {"512", "8192"});
  for (const char* key : {"romio_cb_read", "romio_cb_write", "romio_cb_read", "romio_cb_write"})
    choose(key, {"enable", "disable", "automatic"});
  choose("romio_ds_read", {"enable", "disable"});
  choose("romio_ds_write", {"enable", "disable"});
  choose("ind_rd_buffer_size", {"4096"});
  choose("ind_wr_buffer_size", {"4096"});
  return info;
}

void compare(const std::string& name, const Model& model) {
  const int descriptor = open(name.c_str(), O_RDONLY);
  std::vector<unsigned char> bytes(model.bytes.size() + 1);
  const ssize_t n = read(descriptor, bytes.data(), bytes.size());
  close(descriptor);
  equal(n, static_cast<long long>(model.bytes.size()), "the file's length");
  bytes.resize(model.bytes.size());
  check(bytes == model.bytes, "the file's bytes");
}

void run(const std::string& name, Random& random) {
  const int n = test::size();
  const int me = test::rank();
  MPI_Info info = random_hints(random);
  const test::SharedFile file(name, 0, info);
  MPI_Info_free(&info);
  Model model{random_tile(random, n), draw(random, 0, 1) * draw(random, 0, 5000), {}};
  const std::vector<int> mine = model.tile.of(me);
  const Type filetype(filetype_of(model.tile, me));
  const Type etype([&] {
    MPI_Datatype type;
    MPI_Type_contiguous(model.tile.block, MPI_BYTE, &type);
    return type;
  }());
  const bool by_block = draw(random, 0, 1) != 0;  // etypes
  const int unit = by_block ? model.tile.block : 1;
  equal(MPI_File_set_view(file, model.displacement, by_block ? etype.handle : MPI_BYTE, filetype.handle, "native",
                          MPI_INFO_NULL),
        MPI_SUCCESS, "set_view");
  MPI_File_set_atomicity(file, draw(random, 0, 7) == 0);
  const int steps = draw(random, 2, 6);
  for (int step = 0; step < steps; ++step) {
    const bool write = step == 0 || draw(random, 0, 1) != 0;
    const int routine = draw(random, 0, routines - 1);
    Access own{};
    const Model before = write ? Model{} : model;
    for (int r = 0; r < n; ++r) {
      const int most = std::max(1, 30000 / unit);
      Access access{static_cast<long long>(draw(random, 0, most)) * unit,
                    static_cast<long long>(draw(random, 0, most)) * unit};
      if (draw(random, 0, 5) == 0) access.bytes = 0;
      if (write) model.write(r, access, step);
      if (r == me) own = access;
    }
    Random of_rank(random() + static_cast<unsigned>(me));
    Memory memory(of_rank, own.bytes);
    if (write)
      for (long long i = 0; i < own.bytes; ++i)
        memory.data[static_cast<std::size_t>(memory.at(i))] = Model::value(me, step, i);
    std::vector<unsigned char> expected = memory.data;
    long long arrives = own.bytes;
    if (!write) {
      for (long long i = 0; i < own.bytes; ++i) {
        const auto at = static_cast<std::size_t>(before.place(mine, own.position + i));
        if (at >= before.bytes.size()) {
          arrives = i;
          break;
        }
        expected[static_cast<std::size_t>(memory.at(i))] = before.bytes[at];
      }
    }
    const Type type(memory.type());
    MPI_Status status;
    call(file, write, routine, own.position / unit, memory.data.data(), type.handle, &status);
    equal(test::count_of(status, MPI_BYTE), arrives, write ? "bytes written" : "bytes read");
    check(memory.data == expected, write ? "a write changes its buffer" : "what was read");
    MPI_Barrier(MPI_COMM_WORLD);
    if (write && me == 0) compare(name, model);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  const std::string name = test::file_name_for_all("programs");
  const unsigned seed = test::seed(argc, argv);
  const int programs = argc > 2 ? std::atoi(argv[2]) : 60;
  for (int p = 0; p < programs; ++p) {
    Random random(seed + static_cast<unsigned>(p));
    run(name, random);
  }
}
