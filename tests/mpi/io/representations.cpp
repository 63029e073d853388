// Numbers in a file: "native", "internal", "external32", and representations of the program's own.
#include <algorithm>
#include <vector>

#include "mpi/io/file.hpp"

namespace {

using test::check;
using test::class_of;
using test::count_of;
using test::equal;

std::vector<unsigned char> raw(const std::string& name) {
  std::vector<unsigned char> bytes(4096);
  std::FILE* file = std::fopen(name.c_str(), "rb");
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
  std::fclose(file);
  return bytes;
}

MPI_Aint extent_of(MPI_File file, MPI_Datatype type) {
  MPI_Aint extent;
  MPI_File_get_type_extent(file, type, &extent);
  return extent;
}

// Big-endian; a long has 4 bytes, and so have the holes between longs.
void external32(const std::string& name) {
  const test::SharedFile file(name, 0, MPI_INFO_NULL, MPI_COMM_SELF);
  MPI_Datatype every_second;
  MPI_Type_vector(2, 1, 2, MPI_LONG, &every_second);
  MPI_Type_commit(&every_second);
  equal(MPI_File_set_view(file, 4, MPI_LONG, every_second, "external32", MPI_INFO_NULL), MPI_SUCCESS, "set_view");
  equal(extent_of(file, MPI_LONG), 4, "extent of a long");
  equal(extent_of(file, every_second), 12, "extent of a vector of longs");
  equal(extent_of(file, MPI_DOUBLE), 8, "extent of a double");
  const long written[] = {1, -2, 0x01020304};
  MPI_Status status;
  equal(MPI_File_write(file, written, 3, MPI_LONG, &status), MPI_SUCCESS, "write");
  equal(count_of(status, MPI_LONG), 3, "count");
  const std::vector<unsigned char> expected = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 255, 255, 255, 254, 1, 2, 3, 4};
  check(raw(name) == expected, "big-endian, 4 bytes wide, with holes");
  long read[] = {7, 7, 7, 7};
  MPI_File_seek(file, 0, MPI_SEEK_SET);
  equal(MPI_File_read(file, read, 4, MPI_LONG, &status), MPI_SUCCESS, "read");
  equal(count_of(status, MPI_LONG), 3, "as many as there are");
  check(std::equal(written, written + 3, read) && read[3] == 7, "what was read");
  MPI_Offset byte;
  MPI_File_get_byte_offset(file, 2, &byte);
  equal(byte, 16, "byte offset");
  const long wide = 1L << 40;
  equal(class_of(MPI_File_write_at(file, 0, &wide, 1, MPI_LONG, MPI_STATUS_IGNORE)), MPI_ERR_CONVERSION, "too wide");
  MPI_Type_free(&every_second);
}

// A byte more for each int, so that it is its complement. Counts how often it was called.
int conversions = 0;
template <class Count>
int to_file(void* user, MPI_Datatype type, Count count, void* file, MPI_Offset position, void* extra) {
  ++*static_cast<int*>(extra);
  check(type == MPI_INT, "the type of the call");
  const int* from = static_cast<int*>(user) + position;
  for (Count i = 0; i < count; ++i) {
    const int value = ~from[i];
    std::memcpy(static_cast<char*>(file) + i * 5, &value, 4);
    static_cast<char*>(file)[i * 5 + 4] = 'x';
  }
  return MPI_SUCCESS;
}
template <class Count>
int from_file(void* user, MPI_Datatype type, Count count, void* file, MPI_Offset position, void* extra) {
  ++*static_cast<int*>(extra);
  int bytes = 0;
  equal(MPI_Type_size(type, &bytes), MPI_SUCCESS, "the type in the function, also if it has been freed meanwhile");
  const int ints = bytes / 4;
  int* to = static_cast<int*>(user) + position * ints;
  for (Count i = 0; i < count * ints; ++i) {
    std::memcpy(to + i, static_cast<char*>(file) + i * 5, 4);
    to[i] = ~to[i];
  }
  return MPI_SUCCESS;
}
int extent_in_file(MPI_Datatype type, MPI_Aint* extent, void*) {
  int size;
  MPI_Type_size(type, &size);
  *extent = type == MPI_INT ? 5 : size;
  return MPI_SUCCESS;
}

void registered(const std::string& name, const char* representation) {
  const test::SharedFile file(name);
  const int n = test::size();
  MPI_Datatype mine;
  MPI_Type_create_resized(MPI_INT, 0, static_cast<MPI_Aint>(5) * n, &mine);
  MPI_Type_commit(&mine);
  equal(MPI_File_set_view(file, 5 * test::rank(), MPI_INT, mine, representation, MPI_INFO_NULL), MPI_SUCCESS,
        "set_view");
  MPI_Type_free(&mine);
  char told[MPI_MAX_DATAREP_STRING];
  MPI_Offset displacement;
  MPI_Datatype etype, filetype;
  MPI_File_get_view(file, &displacement, &etype, &filetype, told);
  equal(std::strcmp(told, representation), 0, "the representation's name");
  equal(displacement, 5 * test::rank(), "displacement");
  check(etype == MPI_INT, "etype");
  MPI_Type_free(&filetype);
  const int written[] = {test::rank(), 100 + test::rank(), -1};
  int read[3] = {};
  conversions = 0;
  equal(MPI_File_write_all(file, written, 3, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS, "write_all");
  check(conversions > 0, "data are converted");
  MPI_Barrier(MPI_COMM_WORLD);
  equal(static_cast<long long>(raw(name).size()), 15 * n, "length of the file");
  MPI_Request request;
  MPI_Status status;
  MPI_File_iread_at_all(file, 0, read, 3, MPI_INT, &request);
  equal(MPI_Wait(&request, &status), MPI_SUCCESS, "iread_at_all");
  equal(count_of(status, MPI_INT), 3, "count");
  check(std::equal(written, written + 3, read), "what was read");
  MPI_Datatype three;
  MPI_Type_contiguous(3, MPI_INT, &three);
  MPI_Type_commit(&three);
  std::fill(read, read + 3, 0);
  MPI_File_iread_at_all(file, 0, read, 1, three, &request);
  MPI_Type_free(&three);
  equal(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS, "iread_at_all with a type that is freed meanwhile");
  check(std::equal(written, written + 3, read), "what was read with it");
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  const std::string name = test::file_name_for_all("representations");
  external32(name + "-" + std::to_string(test::rank()));
  equal(MPI_Register_datarep("complement", from_file<int>, to_file<int>, extent_in_file, &conversions), MPI_SUCCESS,
        "register");
  equal(MPI_Register_datarep_c("complement_c", from_file<MPI_Count>, to_file<MPI_Count>, extent_in_file, &conversions),
        MPI_SUCCESS, "register");
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (const char* taken : {"complement", "native", "external32"})
    equal(class_of(MPI_Register_datarep(taken, from_file<int>, to_file<int>, extent_in_file, nullptr)),
          MPI_ERR_DUP_DATAREP, "a name that is taken");
  registered(name, "complement");
  registered(name, "complement_c");
  const test::SharedFile file(name);
  equal(class_of(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "unheard-of", MPI_INFO_NULL)),
        MPI_ERR_UNSUPPORTED_DATAREP, "a representation that there is not");
}
