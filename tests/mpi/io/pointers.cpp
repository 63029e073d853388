// Pointers, modes and what is refused.
#include <vector>

#include "mpi/io/file.hpp"

namespace {

using test::check;
using test::class_of;
using test::count_of;
using test::equal;

MPI_Offset position(MPI_File file) {
  MPI_Offset offset = -1;
  MPI_File_get_position(file, &offset);
  return offset;
}

void seeks(const std::string& name) {
  const test::SharedFile file(name);
  MPI_File_set_size(file, 100);
  MPI_Datatype two_of_five;
  MPI_Type_vector(1, 2, 5, MPI_BYTE, &two_of_five);
  MPI_Datatype filetype;
  MPI_Type_create_resized(two_of_five, 0, 5, &filetype);
  MPI_Type_commit(&filetype);
  MPI_File_set_view(file, 10, MPI_BYTE, filetype, "native", MPI_INFO_NULL);
  MPI_Type_free(&two_of_five);
  MPI_Type_free(&filetype);
  equal(position(file), 0, "a new view");
  MPI_File_seek(file, 7, MPI_SEEK_SET);
  MPI_File_seek(file, -3, MPI_SEEK_CUR);
  equal(position(file), 4, "relative");
  MPI_File_seek(file, 0, MPI_SEEK_END);
  equal(position(file), 36, "the end");
  equal(class_of(MPI_File_seek(file, -40, MPI_SEEK_END)), MPI_ERR_ARG, "before the beginning");
  equal(class_of(MPI_File_seek(file, 0, 77)), MPI_ERR_ARG, "whence");
  equal(position(file), 36, "a seek that fails moves nothing");
  MPI_Offset byte;
  MPI_File_get_byte_offset(file, 5, &byte);
  equal(byte, 10 + 2 * 5 + 1, "byte offset");
  equal(class_of(MPI_File_read_at(file, -1, nullptr, 0, MPI_BYTE, MPI_STATUS_IGNORE)), MPI_ERR_ARG, "offset");
  MPI_File_seek_shared(file, 2, MPI_SEEK_SET);
  MPI_File_get_position_shared(file, &byte);
  equal(byte, 2, "shared pointer");
  int flag = 7;
  MPI_File_get_atomicity(file, &flag);
  equal(flag, 0, "not atomic");
  MPI_File_set_atomicity(file, 1);
  MPI_File_get_atomicity(file, &flag);
  equal(flag, 1, "atomic");
  MPI_File_preallocate(file, 5000);
  MPI_File_get_size(file, &byte);
  equal(byte, 5000, "preallocated");
  MPI_File_preallocate(file, 10);
  MPI_File_get_size(file, &byte);
  equal(byte, 5000, "never shorter");
  equal(class_of(MPI_File_write(file, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE)), MPI_SUCCESS, "atomic write");
  MPI_Barrier(MPI_COMM_WORLD);
}

MPI_Datatype indexed(int first_length, int first, int second) {
  const int lengths[] = {first_length, 1};
  const int places[] = {first, second};
  MPI_Datatype type;
  MPI_Type_indexed(2, lengths, places, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

// Etypes and filetypes with negative or decreasing displacements, and those that overlap where the file may be written.
void refuse_layouts(MPI_File file) {
  for (MPI_Datatype type : {indexed(1, -2, 2), indexed(1, 3, 0), indexed(3, 0, 1)}) {
    equal(class_of(MPI_File_set_view(file, 0, type, type, "native", MPI_INFO_NULL)), MPI_ERR_IO, "etype");
    equal(class_of(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL)), MPI_ERR_IO, "filetype");
    MPI_Type_free(&type);
  }
}

// A view that has some bytes of the file twice.
void read_twice(const std::string& name) {
  const test::SharedFile kept(name);
  const int data[] = {10, 11, 12};
  if (test::rank() == 0) MPI_File_write_at(kept, 0, data, 3, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(kept);
  MPI_File file;
  equal(MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_SUCCESS, "open");
  MPI_Datatype type = indexed(3, 0, 1);
  equal(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL), MPI_SUCCESS, "an overlapping view");
  MPI_Type_free(&type);
  int found[4] = {};
  equal(MPI_File_read_at_all(file, 0, found, 4, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS, "read");
  const int expected[] = {10, 11, 12, 11};
  for (int i = 0; i < 4; ++i) equal(found[i], expected[i], "what was read");
  MPI_File_close(&file);
}

// Etypes that the buffer is no multiple of, views that are none. Collectives refuse without a hang.
void refusals(const std::string& name) {
  const test::SharedFile file(name);
  equal(class_of(MPI_File_set_view(file, -1, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL)), MPI_ERR_ARG, "disp");
  equal(class_of(MPI_File_set_view(file, 0, MPI_INT, MPI_SHORT, "native", MPI_INFO_NULL)), MPI_ERR_ARG, "filetype");
  refuse_layouts(file);
  equal(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_SUCCESS, "set_view");
  const char data[8] = "1234567";
  equal(class_of(MPI_File_write_at(file, 0, data, 3, MPI_CHAR, MPI_STATUS_IGNORE)), MPI_ERR_IO, "not whole etypes");
  // One process is wrong, the others get theirs.
  const int count = test::rank() == 0 ? 3 : 4;
  MPI_Status status;
  const int code = MPI_File_write_at_all(file, test::rank(), data, count, MPI_CHAR, &status);
  equal(class_of(code), test::rank() == 0 ? MPI_ERR_IO : MPI_SUCCESS, "not whole etypes, collectively");
  equal(count_of(status, MPI_CHAR), test::rank() == 0 ? 0 : 4, "count");
  MPI_File_write_all_begin(file, data, 4, MPI_CHAR);
  equal(class_of(MPI_File_read_all_begin(file, const_cast<char*>(data), 4, MPI_CHAR)), MPI_ERR_IO, "two at a time");
  equal(class_of(MPI_File_read_all_end(file, const_cast<char*>(data), MPI_STATUS_IGNORE)), MPI_ERR_IO, "another one");
  equal(MPI_File_write_all_end(file, data, MPI_STATUS_IGNORE), MPI_SUCCESS, "the end");
  equal(class_of(MPI_File_write_all_end(file, data, MPI_STATUS_IGNORE)), MPI_ERR_IO, "no beginning");
  MPI_Barrier(MPI_COMM_WORLD);
}

void modes(const std::string& name) {
  char byte = 'a';
  {
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_WRONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    equal(class_of(MPI_File_read(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE)), MPI_ERR_ACCESS, "read");
    MPI_File_write_ordered(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    equal(class_of(MPI_File_write(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE)), MPI_ERR_READ_ONLY, "write");
    equal(class_of(MPI_File_preallocate(file, 1)), MPI_ERR_READ_ONLY, "preallocate");
    equal(MPI_File_sync(file), MPI_SUCCESS, "sync");
    MPI_File_close(&file);
  }
  const test::SharedFile file(name, MPI_MODE_APPEND);
  MPI_Offset shared;
  MPI_File_get_position_shared(file, &shared);
  equal(position(file), test::size(), "appended to");
  equal(shared, test::size(), "appended to");
  MPI_Barrier(MPI_COMM_WORLD);
}

void sequential(const std::string& name) {
  MPI_File file;
  const int amode = MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE;
  MPI_File_open(MPI_COMM_WORLD, name.c_str(), amode, MPI_INFO_NULL, &file);
  const char byte = 'b';
  equal(class_of(MPI_File_write(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE)), MPI_ERR_UNSUPPORTED_OPERATION,
        "pointer");
  equal(class_of(MPI_File_seek(file, 0, MPI_SEEK_SET)), MPI_ERR_UNSUPPORTED_OPERATION, "seek");
  equal(MPI_File_write_shared(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_SUCCESS, "shared pointer");
  MPI_Barrier(MPI_COMM_WORLD);
  equal(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL), MPI_SUCCESS,
        "set_view");
  MPI_Offset displacement;
  MPI_Datatype etype, filetype;
  char representation[MPI_MAX_DATAREP_STRING];
  MPI_File_get_view(file, &displacement, &etype, &filetype, representation);
  equal(displacement, test::size(), "the current displacement");
  MPI_File_close(&file);
}

// A device that is always full: by each path to the kernel.
void full() {
  MPI_File file;
  equal(MPI_File_open(MPI_COMM_SELF, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file), MPI_SUCCESS, "open");
  std::vector<char> data(100);
  MPI_Status status;
  equal(class_of(MPI_File_write(file, data.data(), 100, MPI_CHAR, &status)), MPI_ERR_NO_SPACE, "write");
  equal(count_of(status, MPI_CHAR), 0, "count");
  MPI_Request request;
  MPI_File_iwrite(file, data.data(), 100, MPI_CHAR, &request);
  equal(class_of(MPI_Wait(&request, &status)), MPI_ERR_NO_SPACE, "iwrite");
  equal(count_of(status, MPI_CHAR), 0, "count");
  MPI_File_close(&file);
}

void hints(const std::string& name) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_nodes", "3");
  MPI_Info_set(info, "romio_ds_read", "disable");
  MPI_Info_set(info, "cb_buffer_size", "nonsense");
  MPI_Info_set(info, "unheard_of", "1");
  const test::SharedFile file(name, 0, info);
  MPI_Info_free(&info);
  MPI_File_get_info(file, &info);
  char value[64];
  int flag;
  MPI_Info_get(info, "cb_nodes", 63, value, &flag);
  check(flag && std::string(value) == "3", "cb_nodes");
  MPI_Info_get(info, "romio_ds_read", 63, value, &flag);
  check(flag && std::string(value) == "disable", "romio_ds_read");
  MPI_Info_get(info, "cb_buffer_size", 63, value, &flag);
  check(flag && std::atoi(value) >= 4096, "a value that means nothing");
  MPI_Info_get(info, "unheard_of", 63, value, &flag);
  check(!flag, "a key that means nothing");
  MPI_Info_free(&info);
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  const std::string name = test::file_name_for_all("pointers");
  seeks(name);
  refusals(name);
  read_twice(name);
  modes(name);
  sequential(name);
  full();
  hints(name);
}
