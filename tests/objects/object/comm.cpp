// Making communicators, one thread: who is in them, in which order, and that their messages never mix.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::equal;

// Each sends all its rank in MPI_COMM_WORLD, on this communicator.
std::vector<int> members(MPI_Comm comm) {
  int size;
  MPI_Comm_size(comm, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  const int me = test::rank();
  MPI_Allgather(&me, 1, MPI_INT, ranks.data(), 1, MPI_INT, comm);
  return ranks;
}

// A message with the same tag on two communicators arrives on the one that it was sent on.
void are_apart(MPI_Comm a, MPI_Comm b) {
  int rank, size;
  MPI_Comm_rank(a, &rank);
  MPI_Comm_size(a, &size);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  const int on_a = 1, on_b = 2;
  int got_a = 0, got_b = 0;
  MPI_Request requests[4];
  MPI_Isend(&on_b, 1, MPI_INT, to, 5, b, &requests[0]);
  MPI_Isend(&on_a, 1, MPI_INT, to, 5, a, &requests[1]);
  MPI_Irecv(&got_a, 1, MPI_INT, from, 5, a, &requests[2]);
  MPI_Irecv(&got_b, 1, MPI_INT, from, 5, b, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  equal(got_a, on_a, "message on the first communicator");
  equal(got_b, on_b, "message on the second communicator");
}

int compare(MPI_Comm a, MPI_Comm b) {
  int result;
  MPI_Comm_compare(a, b, &result);
  return result;
}

void duplicates() {
  MPI_Comm dup, idup;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  equal(compare(dup, MPI_COMM_WORLD), MPI_CONGRUENT, "dup");
  equal(compare(dup, dup), MPI_IDENT, "the same");
  are_apart(dup, MPI_COMM_WORLD);
  MPI_Request request;
  MPI_Comm_idup(dup, &idup, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  are_apart(idup, dup);

  // Several at a time, waited for in another order.
  MPI_Comm many[4];
  MPI_Request requests[4];
  for (int i = 0; i < 4; ++i) MPI_Comm_idup(dup, &many[i], &requests[i]);
  for (int i = 3; i >= 0; --i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  are_apart(many[0], many[3]);
  are_apart(many[1], many[2]);
  for (MPI_Comm& comm : many) MPI_Comm_free(&comm);
  MPI_Comm_free(&idup);
  MPI_Comm_free(&dup);
  check(dup == MPI_COMM_NULL, "free sets the handle to null");
}

// Against what the definition says, computed from all processes' colors and keys.
void random_splits(unsigned seed) {
  const int n = test::size();
  for (int round = 0; round < 20; ++round) {
    std::mt19937 random(seed + static_cast<unsigned>(round));  // the same on every rank
    std::vector<int> colors, keys;
    for (int r = 0; r < n; ++r) {
      const int color = static_cast<int>(random() % 4);
      colors.push_back(color == 3 ? MPI_UNDEFINED : color);
      keys.push_back(static_cast<int>(random() % 5) - 2);
    }
    const auto mine = static_cast<std::size_t>(test::rank());
    std::vector<std::tuple<int, int>> order;
    for (int r = 0; r < n; ++r) {
      if (colors[static_cast<std::size_t>(r)] == colors[mine]) order.emplace_back(keys[static_cast<std::size_t>(r)], r);
    }
    std::sort(order.begin(), order.end());
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, colors[mine], keys[mine], &comm);
    if (colors[mine] == MPI_UNDEFINED) {
      check(comm == MPI_COMM_NULL, "no color, no communicator");
      continue;
    }
    const std::vector<int> got = members(comm);
    equal(static_cast<long long>(got.size()), static_cast<long long>(order.size()), "size of a split");
    for (std::size_t i = 0; i < got.size(); ++i) equal(got[i], std::get<1>(order[i]), "member of a split");
    MPI_Comm_free(&comm);
  }
}

MPI_Group every_second(MPI_Group group, int first) {
  int size;
  MPI_Group_size(group, &size);
  int range[1][3] = {{first, size - 1, 2}};
  MPI_Group result;
  MPI_Group_range_incl(group, first < size ? 1 : 0, range, &result);
  return result;
}

void from_groups() {
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group even = every_second(world, 0), odd = every_second(world, 1);
  const bool is_even = test::rank() % 2 == 0;
  const MPI_Group mine = is_even ? even : odd;
  MPI_Comm both, one, by_group, by_tag;
  MPI_Comm_create(MPI_COMM_WORLD, mine, &both);  // two groups at once
  MPI_Comm_create(MPI_COMM_WORLD, even, &one);
  MPI_Comm_create_group(MPI_COMM_WORLD, mine, 7, &by_group);
  MPI_Comm_create_from_group(mine, "test.object.comm", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &by_tag);
  check((one != MPI_COMM_NULL) == is_even, "only members get the communicator");
  equal(compare(both, by_group), MPI_CONGRUENT, "create and create_group");
  equal(compare(both, by_tag), MPI_CONGRUENT, "create and create_from_group");
  are_apart(both, by_group);
  are_apart(by_group, by_tag);
  for (MPI_Comm* comm : {&both, &one, &by_group, &by_tag}) {
    if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
  }
  for (MPI_Group* group : {&world, &even, &odd}) MPI_Group_free(group);
}

void info_and_names() {
  MPI_Comm comm;
  MPI_Info info, used;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
  MPI_Info_set(info, "unknown_hint", "1");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
  MPI_Comm_get_info(comm, &used);
  char value[16];
  int flag, length = sizeof value;
  MPI_Info_get_string(used, "mpi_assert_no_any_tag", &length, value, &flag);
  check(flag && std::string(value) == "true", "a hint that is known");
  MPI_Info_get_valuelen(used, "unknown_hint", &length, &flag);
  check(!flag, "a hint that is not");
  MPI_Info_free(&used);
  MPI_Info_free(&info);

  char name[MPI_MAX_OBJECT_NAME];
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  check(std::string(name) == "MPI_COMM_WORLD", "name of MPI_COMM_WORLD");
  MPI_Comm_get_name(comm, name, &length);
  equal(length, 0, "length of the name of a new communicator");
  const std::string too_long(1000, 'x');
  MPI_Comm_set_name(comm, too_long.c_str());
  MPI_Comm_get_name(comm, name, &length);
  equal(length, MPI_MAX_OBJECT_NAME - 1, "length of a name that was cut");
  MPI_Comm_disconnect(&comm);
}

// How many ranks are where this one is, by the name that its processor has.
long long of_my_host() {
  using Name = std::array<char, MPI_MAX_PROCESSOR_NAME>;
  Name mine{};
  int length = 0;
  MPI_Get_processor_name(mine.data(), &length);
  std::vector<Name> names(static_cast<std::size_t>(test::size()));
  MPI_Allgather(mine.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, names.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR,
                MPI_COMM_WORLD);
  return std::count(names.begin(), names.end(), mine);
}

void split_types() {
  MPI_Comm comm;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -test::rank(), MPI_INFO_NULL, &comm);
  const std::vector<int> on_node = members(comm);
  equal(on_node.back(), *std::min_element(on_node.begin(), on_node.end()), "last by key");
  if (std::getenv("HEDDLE_NODES") == nullptr)
    equal(static_cast<long long>(on_node.size()), of_my_host(), "ranks of my node");
  MPI_Comm_free(&comm);
  int type = MPI_UNDEFINED;
  if (test::rank() == 0) type = MPI_COMM_TYPE_RESOURCE_GUIDED;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_pset_name", "mpi://SELF");
  MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, info, &comm);
  MPI_Info_free(&info);
  check((comm == MPI_COMM_NULL) == (test::rank() != 0), "only rank 0 asked for one");
  if (comm == MPI_COMM_NULL) return;
  equal(compare(comm, MPI_COMM_SELF), MPI_CONGRUENT, "the process set of oneself");
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  const unsigned seed = test::seed(argc, argv);
  duplicates();
  random_splits(seed);
  from_groups();
  info_and_names();
  split_types();
}
