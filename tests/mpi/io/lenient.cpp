// Arguments of programs written for ROMIO: file names with the prefix of a file system, and hints that ask for more than there is.
#include <unistd.h>

#include <string>
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::equal;

void names(const std::string& path) {
  for (const char* prefix : {"ufs:", "nfs:", "xfs:", "gpfs:", "lustre:", "panfs:", "pvfs2:", "daos:", "testfs:", ""}) {
    const std::string name = prefix + path;
    MPI_File file = MPI_FILE_NULL;
    equal(MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
          MPI_SUCCESS, prefix);
    check(access(path.c_str(), F_OK) == 0, "the prefix is no part of the file's name");
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (test::rank() == 0) equal(MPI_File_delete(name.c_str(), MPI_INFO_NULL), MPI_SUCCESS, prefix);
    MPI_Barrier(MPI_COMM_WORLD);
    check(access(path.c_str(), F_OK) != 0, "the file is deleted");
  }
}

// Every access that a hint has to do with, with every value of each.
void hints(const std::string& path) {
  constexpr int n = 64;
  MPI_Datatype strided = MPI_DATATYPE_NULL;
  MPI_Type_vector(n, 1, 2 * test::size(), MPI_INT, &strided);
  MPI_Type_commit(&strided);
  for (const char* key : {"cb_buffer_size", "io_ompio_bytes_per_agg", "ind_rd_buffer_size", "ind_wr_buffer_size",
                          "striping_unit", "striping_factor", "cb_nodes", "io_ompio_num_aggregators"}) {
    for (const char* value : {"9223372036854775807", "99999999999999999999999", "1099511627776", "2147483647", "1", "0",
                              "-1", "-9223372036854775808", "many"}) {
      MPI_Info info = MPI_INFO_NULL;
      MPI_Info_create(&info);
      MPI_Info_set(info, key, value);
      MPI_Info_set(info, "romio_cb_write", "enable");
      MPI_Info_set(info, "romio_cb_read", "enable");
      MPI_Info_set(info, "romio_ds_read", "enable");
      MPI_Info_set(info, "romio_ds_write", "enable");
      MPI_File file = MPI_FILE_NULL;
      const std::string what = std::string(key) + "=" + value;
      equal(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file), MPI_SUCCESS,
            what.c_str());
      MPI_File_set_view(file, static_cast<MPI_Offset>(test::rank() * static_cast<int>(sizeof(int))), MPI_INT, strided,
                        "native", info);
      const std::vector<int> written(n, test::rank() + 1);
      std::vector<int> read(n, 0);
      equal(MPI_File_write_at_all(file, 0, written.data(), n, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS, what.c_str());
      equal(MPI_File_read_at_all(file, 0, read.data(), n, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS, what.c_str());
      check(read == written, what.c_str());
      equal(MPI_File_write_at(file, 0, written.data(), n, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS, what.c_str());
      equal(MPI_File_read_at(file, 0, read.data(), n, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS, what.c_str());
      check(read == written, what.c_str());
      MPI_File_close(&file);
      MPI_Info_free(&info);
    }
  }
  MPI_Type_free(&strided);
  if (test::rank() == 0) MPI_File_delete(path.c_str(), MPI_INFO_NULL);
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  int process = static_cast<int>(getpid());
  MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const std::string path = "/tmp/heddle-lenient-" + std::to_string(process);
  names(path);
  hints(path);
}
