// The algebra of groups against ordered sets of world ranks.
#include <algorithm>
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::equal;
using Set = std::vector<int>;  // world ranks in the group's order

MPI_Group world;

MPI_Group make(const Set& set) {
  MPI_Group group;
  MPI_Group_incl(world, static_cast<int>(set.size()), set.data(), &group);
  return group;
}

bool has(const Set& set, int x) { return std::find(set.begin(), set.end(), x) != set.end(); }

Set filter(const Set& a, const Set& b, bool in_b) {
  Set result;
  std::copy_if(a.begin(), a.end(), std::back_inserter(result), [&](int x) { return has(b, x) == in_b; });
  return result;
}

Set join(Set a, const Set& b) {
  for (int x : filter(b, a, false)) a.push_back(x);
  return a;
}

int likeness(const Set& a, const Set& b) {
  if (a == b) return MPI_IDENT;
  return a.size() == b.size() && filter(a, b, false).empty() ? MPI_SIMILAR : MPI_UNEQUAL;
}

// Takes the group and compares all that can be asked of it.
void expect(MPI_Group group, const Set& set, const char* what) {
  int size, rank;
  MPI_Group_size(group, &size);
  equal(size, static_cast<long long>(set.size()), what);
  MPI_Group_rank(group, &rank);
  const auto self = std::find(set.begin(), set.end(), test::rank());
  equal(rank, self == set.end() ? long{MPI_UNDEFINED} : self - set.begin(), what);
  std::vector<int> ranks, translated(set.size());
  for (int r = 0; r < size; ++r) ranks.push_back(r);
  MPI_Group_translate_ranks(group, size, ranks.data(), world, translated.data());
  check(translated == set, what);
  for (int x = 0; x < test::size(); ++x) {
    int there;
    MPI_Group_translate_ranks(world, 1, &x, group, &there);
    const auto place = std::find(set.begin(), set.end(), x);
    equal(there, place == set.end() ? long{MPI_UNDEFINED} : place - set.begin(), what);
  }
  if (set.empty()) check(group == MPI_GROUP_EMPTY, "a result without members is MPI_GROUP_EMPTY");
  MPI_Group_free(&group);
}

Set random_set(std::mt19937& random) {
  Set set;
  for (int x = 0; x < test::size(); ++x) {
    if (random() % 2) set.push_back(x);
  }
  if (random() % 2) std::shuffle(set.begin(), set.end(), random);
  return set;
}

void algebra(std::mt19937& random) {
  const Set a = random_set(random), b = random_set(random);
  MPI_Group ga = make(a), gb = make(b), result;
  int how;
  MPI_Group_union(ga, gb, &result);
  expect(result, join(a, b), "union");
  MPI_Group_intersection(ga, gb, &result);
  expect(result, filter(a, b, true), "intersection");
  MPI_Group_difference(ga, gb, &result);
  expect(result, filter(a, b, false), "difference");
  MPI_Group_compare(ga, gb, &how);
  equal(how, likeness(a, b), "compare");

  Set picked;  // places in a
  for (int i = 0; i < static_cast<int>(a.size()); ++i) {
    if (random() % 2) picked.push_back(i);
  }
  std::shuffle(picked.begin(), picked.end(), random);
  Set in, out = a;
  for (int i : picked) in.push_back(a[static_cast<std::size_t>(i)]);
  std::erase_if(out, [&](int x) { return has(in, x); });
  const auto n = static_cast<int>(picked.size());
  MPI_Group_incl(ga, n, picked.data(), &result);
  expect(result, in, "incl");
  MPI_Group_excl(ga, n, picked.data(), &result);
  expect(result, out, "excl");
  MPI_Group_free(&ga);
  MPI_Group_free(&gb);
}

void ranges(std::mt19937& random) {
  const int n = test::size();
  const int first = static_cast<int>(random() % static_cast<unsigned>(n));
  const int last = static_cast<int>(random() % static_cast<unsigned>(n));
  const int stride = (1 + static_cast<int>(random() % 3)) * (first <= last ? 1 : -1);
  Set in, out;
  for (int r = first; stride > 0 ? r <= last : r >= last; r += stride) in.push_back(r);
  for (int r = 0; r < n; ++r) {
    if (!has(in, r)) out.push_back(r);
  }
  int range[1][3] = {{first, last, stride}};
  MPI_Group result;
  MPI_Group_range_incl(world, 1, range, &result);
  expect(result, in, "range_incl");
  MPI_Group_range_excl(world, 1, range, &result);
  expect(result, out, "range_excl");
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  std::mt19937 random(test::seed(argc, argv));
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int round = 0; round < 200; ++round) {
    algebra(random);
    ranges(random);
  }
  MPI_Group_free(&world);
}
