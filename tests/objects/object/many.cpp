// Many objects of several kinds at once, each with a handle of its own that is found again.
#include <set>
#include <string>
#include <vector>

#include "mpi/check.hpp"

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  constexpr int n = 20000;
  std::vector<MPI_Info> infos(n);
  std::vector<MPI_Datatype> types(n);
  for (int i = 0; i < n; ++i) {
    MPI_Info_create(&infos[static_cast<std::size_t>(i)]);
    MPI_Info_set(infos[static_cast<std::size_t>(i)], "number", std::to_string(i).c_str());
    MPI_Type_contiguous(i, MPI_BYTE, &types[static_cast<std::size_t>(i)]);
  }
  test::equal(static_cast<long long>(std::set(infos.begin(), infos.end()).size()), n, "handles of infos");
  test::equal(static_cast<long long>(std::set(types.begin(), types.end()).size()), n, "handles of datatypes");
  for (int i = 0; i < n; ++i) {
    char value[16];
    int length = sizeof value, flag, size;
    MPI_Info_get_string(infos[static_cast<std::size_t>(i)], "number", &length, value, &flag);
    test::check(flag && std::to_string(i) == value, "an info's value");
    MPI_Type_size(types[static_cast<std::size_t>(i)], &size);
    test::equal(size, i, "a datatype's size");
    MPI_Info_free(&infos[static_cast<std::size_t>(i)]);
    MPI_Type_free(&types[static_cast<std::size_t>(i)]);
  }
}
