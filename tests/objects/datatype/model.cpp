#include "model.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "objects/datatype/make.hpp"

namespace heddle::test {

using datatype::Contents;

MPI_Count TypeMap::size() const {
  MPI_Count sum = 0;
  for (const Item& i : items) sum += static_cast<MPI_Count>(size_of(i.element));
  return sum;
}

MPI_Aint TypeMap::true_lb() const {
  if (items.empty()) return 0;
  return std::min_element(items.begin(), items.end(), [](auto& a, auto& b) { return a.disp < b.disp; })->disp;
}

MPI_Aint TypeMap::true_ub() const {
  if (items.empty()) return 0;
  MPI_Aint end = items[0].disp;
  for (const Item& i : items) end = std::max(end, i.disp + static_cast<MPI_Aint>(size_of(i.element)));
  return end;
}

MPI_Aint TypeMap::lb() const {
  if (!lower_marks.empty()) return *std::min_element(lower_marks.begin(), lower_marks.end());
  return true_lb();
}

MPI_Aint TypeMap::ub() const {
  if (!upper_marks.empty()) return *std::max_element(upper_marks.begin(), upper_marks.end());
  MPI_Aint strictest = 1;
  for (const Item& i : items) strictest = std::max(strictest, static_cast<MPI_Aint>(alignment_of(i.element)));
  MPI_Aint end = true_ub();
  for (MPI_Aint inner : inner_ends) end = std::max(end, inner);
  while ((end - lb()) % strictest != 0) ++end;
  return end;
}

void TypeMap::append(const TypeMap& other, MPI_Aint disp) {
  if (other.lower_marks.empty() && !other.items.empty()) inner_ends.push_back(other.ub() + disp);
  for (Item i : other.items) items.push_back({i.element, i.disp + disp});
  for (MPI_Aint mark : other.lower_marks) lower_marks.push_back(mark + disp);
  for (MPI_Aint mark : other.upper_marks) upper_marks.push_back(mark + disp);
}

namespace {

void append_block(TypeMap& map, const TypeMap& child, MPI_Aint disp, MPI_Count blocklength) {
  const MPI_Aint extent = child.extent();
  for (MPI_Count i = 0; i < blocklength; ++i) map.append(child, disp + i * extent);
}

// Which elements of an n-dimensional array belong to the type, in the order of memory; `mine(dimension, index)`.
template <class Mine>
TypeMap array_map(int ndims, const MPI_Count* sizes, int order, const TypeMap& child, Mine mine) {
  TypeMap map;
  MPI_Count total = 1;
  for (int d = 0; d < ndims; ++d) total *= sizes[d];
  const MPI_Aint extent = child.extent();
  for (MPI_Count position = 0; position < total; ++position) {
    MPI_Count rest = position;
    bool all = true;
    for (int i = 0; i < ndims; ++i) {
      const int d = order == MPI_ORDER_C ? ndims - 1 - i : i;
      all = all && mine(d, rest % sizes[d]);
      rest /= sizes[d];
    }
    if (all) map.append(child, position * extent);
  }
  map.lower_marks = {0};
  map.upper_marks = {total * extent};
  return map;
}

bool darray_owns(MPI_Count index, MPI_Count size, int distribution, MPI_Count darg, MPI_Count processes,
                 MPI_Count coordinate) {
  if (distribution == MPI_DISTRIBUTE_NONE) return true;
  if (distribution == MPI_DISTRIBUTE_BLOCK) {
    if (darg == MPI_DISTRIBUTE_DFLT_DARG) darg = (size + processes - 1) / processes;
    return index / darg == coordinate;
  }
  if (darg == MPI_DISTRIBUTE_DFLT_DARG) darg = 1;
  return index / darg % processes == coordinate;
}

}  // namespace

TypeMap map_of(const Contents& c, const std::vector<const TypeMap*>& children) {
  const auto& v = c.values;
  const TypeMap& old = *children[0];
  const MPI_Aint extent = old.extent();
  TypeMap map;
  switch (c.combiner) {
    case MPI_COMBINER_DUP:
      return old;
    case MPI_COMBINER_CONTIGUOUS:
      append_block(map, old, 0, v[0]);
      break;
    case MPI_COMBINER_VECTOR:
      for (MPI_Count i = 0; i < v[0]; ++i) append_block(map, old, i * v[2] * extent, v[1]);
      break;
    case MPI_COMBINER_HVECTOR:
      for (MPI_Count i = 0; i < v[0]; ++i) append_block(map, old, i * v[2], v[1]);
      break;
    case MPI_COMBINER_INDEXED:
      for (MPI_Count i = 0; i < v[0]; ++i) append_block(map, old, v[1 + v[0] + i] * extent, v[1 + i]);
      break;
    case MPI_COMBINER_HINDEXED:
      for (MPI_Count i = 0; i < v[0]; ++i) append_block(map, old, v[1 + v[0] + i], v[1 + i]);
      break;
    case MPI_COMBINER_INDEXED_BLOCK:
      for (MPI_Count i = 0; i < v[0]; ++i) append_block(map, old, v[2 + i] * extent, v[1]);
      break;
    case MPI_COMBINER_HINDEXED_BLOCK:
      for (MPI_Count i = 0; i < v[0]; ++i) append_block(map, old, v[2 + i], v[1]);
      break;
    case MPI_COMBINER_STRUCT:
      for (MPI_Count i = 0; i < v[0]; ++i) append_block(map, *children[i], v[1 + v[0] + i], v[1 + i]);
      break;
    case MPI_COMBINER_RESIZED:
      map.items = old.items;
      map.lower_marks = {v[0]};
      map.upper_marks = {v[0] + v[1]};
      break;
    case MPI_COMBINER_SUBARRAY: {
      const auto n = static_cast<int>(v[0]);
      const MPI_Count *sizes = &v[1], *subsizes = sizes + n, *starts = subsizes + n;
      return array_map(n, sizes, static_cast<int>(v.back()), old,
                       [&](int d, MPI_Count index) { return index >= starts[d] && index < starts[d] + subsizes[d]; });
    }
    case MPI_COMBINER_DARRAY: {
      const auto n = static_cast<int>(v[2]);
      const MPI_Count *sizes = &v[3], *distribs = sizes + n, *dargs = distribs + n, *psizes = dargs + n;
      std::vector<MPI_Count> coordinate(n);
      MPI_Count rest = v[1];
      for (int d = n - 1; d >= 0; --d) {
        coordinate[d] = rest % psizes[d];
        rest /= psizes[d];
      }
      return array_map(n, sizes, static_cast<int>(v.back()), old, [&](int d, MPI_Count index) {
        return darray_owns(index, sizes[d], static_cast<int>(distribs[d]), dargs[d], psizes[d], coordinate[d]);
      });
    }
    default:
      std::abort();
  }
  return map;
}

Modelled predefined(MPI_Datatype constant) {
  Datatype& type = *predefined_datatype(constant);
  TypeMap map;
  if (type.is_pair()) {
    const auto end = static_cast<MPI_Aint>(size_of(type.value));
    const auto align = static_cast<MPI_Aint>(alignment_of(type.index));
    map.items = {{type.value, 0}, {type.index, (end + align - 1) / align * align}};
  } else {
    map.items = {{type.element, 0}};
  }
  char name[32];
  std::snprintf(name, sizeof name, "%#zx", reinterpret_cast<std::size_t>(constant));
  return {datatype::Reference(type), map, name};
}

Modelled construct(Contents contents, const std::vector<const Modelled*>& children) {
  std::vector<const TypeMap*> maps;
  std::string text = std::to_string(contents.combiner) + "(";
  for (MPI_Count v : contents.values) text += std::to_string(v) + " ";
  for (const Modelled* child : children) {
    maps.push_back(&child->map);
    contents.types.push_back(&*child->type);
    text += child->text + " ";
  }
  text += ")";
  TypeMap map = map_of(contents, maps);

  Datatype* layout = nullptr;
  const auto& v = contents.values;
  if (contents.combiner == MPI_COMBINER_SUBARRAY) {
    const auto n = v[0];
    if (datatype::make_subarray_layout(static_cast<int>(n), &v[1], &v[1 + n], &v[1 + 2 * n], static_cast<int>(v.back()),
                                       *contents.types[0], layout)) {
      std::abort();
    }
  } else if (contents.combiner == MPI_COMBINER_DARRAY) {
    const auto n = v[2];
    if (datatype::make_darray_layout(static_cast<int>(v[0]), static_cast<int>(v[1]), static_cast<int>(n), &v[3],
                                     &v[3 + n], &v[3 + 2 * n], &v[3 + 3 * n], static_cast<int>(v.back()),
                                     *contents.types[0], layout)) {
      std::abort();
    }
  }
  contents.layout = layout;
  Datatype* type = nullptr;
  if (datatype::make(std::move(contents), type)) std::abort();
  if (layout) release(*layout);
  return {datatype::Reference::adopt(type), std::move(map), std::move(text)};
}

namespace {

Modelled random_leaf(Random& random) {
  static const MPI_Datatype leaves[] = {MPI_BYTE,  MPI_CHAR,           MPI_SHORT,
                                        MPI_INT,   MPI_DOUBLE,         MPI_DOUBLE_INT,
                                        MPI_FLOAT, MPI_SHORT_INT,      MPI_C_DOUBLE_COMPLEX,
                                        MPI_2INT,  MPI_LONG_DOUBLE_INT};
  return predefined(leaves[pick(random, 0, std::size(leaves) - 1)]);
}

std::vector<MPI_Count> numbers(Random& random, MPI_Count n, MPI_Count low, MPI_Count high) {
  std::vector<MPI_Count> result(static_cast<std::size_t>(n));
  for (MPI_Count& x : result) x = pick(random, low, high);
  return result;
}

MPI_Count blocklength(Random& random) { return pick(random, 0, 9) == 0 ? 0 : pick(random, 1, 3); }
std::vector<MPI_Count> blocklengths(Random& random, MPI_Count n) {
  std::vector<MPI_Count> result(static_cast<std::size_t>(n));
  for (MPI_Count& x : result) x = blocklength(random);
  return result;
}

void join(std::vector<MPI_Count>& to, const std::vector<MPI_Count>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

Modelled random_array(Random& random, const Modelled& old) {
  const MPI_Count n = pick(random, 1, 3);
  const MPI_Count order = pick(random, 0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  std::vector<MPI_Count> sizes = numbers(random, n, 1, 5);
  if (pick(random, 0, 1)) {
    std::vector<MPI_Count> subsizes, starts;
    for (MPI_Count size : sizes) {
      subsizes.push_back(pick(random, 1, size));
      starts.push_back(pick(random, 0, size - subsizes.back()));
    }
    Contents c{MPI_COMBINER_SUBARRAY, true, {n}, 0, {}};
    join(c.values, sizes);
    join(c.values, subsizes);
    join(c.values, starts);
    c.values.push_back(order);
    return construct(std::move(c), {&old});
  }
  MPI_Count processes = 1;
  std::vector<MPI_Count> distribs, dargs, psizes;
  for (MPI_Count size : sizes) {
    static const MPI_Count kinds[] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    distribs.push_back(kinds[pick(random, 0, 2)]);
    psizes.push_back(distribs.back() == MPI_DISTRIBUTE_NONE ? 1 : pick(random, 1, 3));
    const MPI_Count smallest = distribs.back() == MPI_DISTRIBUTE_BLOCK ? (size + psizes.back() - 1) / psizes.back() : 1;
    dargs.push_back(pick(random, 0, 1) ? MPI_Count{MPI_DISTRIBUTE_DFLT_DARG} : pick(random, smallest, smallest + 2));
    processes *= psizes.back();
  }
  Contents c{MPI_COMBINER_DARRAY, true, {processes, pick(random, 0, processes - 1), n}, 0, {}};
  join(c.values, sizes);
  join(c.values, distribs);
  join(c.values, dargs);
  join(c.values, psizes);
  c.values.push_back(order);
  return construct(std::move(c), {&old});
}

Modelled random_constructed(Random& random, int depth) {
  if (depth == 0) return random_leaf(random);
  const Modelled old = random_constructed(random, static_cast<int>(pick(random, 0, depth - 1)));
  const MPI_Count n = pick(random, 0, 9) == 0 ? 0 : pick(random, 1, 4);
  switch (pick(random, 0, 11)) {
    case 0:
      return construct({MPI_COMBINER_DUP, true, {}, 0, {}}, {&old});
    case 1:
      return construct({MPI_COMBINER_CONTIGUOUS, true, {n}, 0, {}}, {&old});
    case 2:
      return construct({MPI_COMBINER_VECTOR, true, {n, blocklength(random), pick(random, -4, 4)}, 0, {}}, {&old});
    case 3:
      return construct({MPI_COMBINER_HVECTOR, true, {n, blocklength(random), pick(random, -50, 50)}, 0, {}}, {&old});
    case 4:
    case 5: {
      const bool bytes = pick(random, 0, 1);
      Contents c{bytes ? MPI_COMBINER_HINDEXED : MPI_COMBINER_INDEXED, true, {n}, 0, {}};
      join(c.values, blocklengths(random, n));
      join(c.values, bytes ? numbers(random, n, -99, 99) : numbers(random, n, -9, 9));
      return construct(std::move(c), {&old});
    }
    case 6:
    case 7: {
      const bool bytes = pick(random, 0, 1);
      Contents c{
          bytes ? MPI_COMBINER_HINDEXED_BLOCK : MPI_COMBINER_INDEXED_BLOCK, true, {n, blocklength(random)}, 0, {}};
      join(c.values, bytes ? numbers(random, n, -99, 99) : numbers(random, n, -9, 9));
      return construct(std::move(c), {&old});
    }
    case 8: {
      const Modelled other = random_constructed(random, depth - 1);
      std::vector<const Modelled*> children(static_cast<std::size_t>(n), &old);
      if (n == 0) return construct({MPI_COMBINER_CONTIGUOUS, true, {2}, 0, {}}, {&other});
      children.back() = &other;
      Contents c{MPI_COMBINER_STRUCT, true, {n}, 0, {}};
      join(c.values, blocklengths(random, n));
      join(c.values, numbers(random, n, -99, 99));
      return construct(std::move(c), children);
    }
    case 9:
      return construct({MPI_COMBINER_RESIZED, true, {pick(random, -20, 20), pick(random, -40, 60)}, 0, {}}, {&old});
    default:
      return random_array(random, old);
  }
}

}  // namespace

Modelled random_type(Random& random, int depth) {
  for (;;) {
    Modelled made = random_constructed(random, depth);
    if (made.map.items.size() > 3000) continue;  // keeps a test of every offset short
    commit(const_cast<Datatype&>(*made.type));
    return made;
  }
}

std::uint64_t test_seed() {
  static const std::uint64_t seed = [] {
    const char* given = std::getenv("HEDDLE_TEST_SEED");
    const std::uint64_t value = given ? std::strtoull(given, nullptr, 0) : std::random_device{}();
    std::printf("HEDDLE_TEST_SEED=%llu\n", static_cast<unsigned long long>(value));
    return value;
  }();
  return seed;
}

Buffer::Buffer(const TypeMap& map, MPI_Count count, unsigned char fill) {
  const MPI_Aint last = count > 0 ? (count - 1) * map.extent() : 0;
  const MPI_Aint low = std::min<MPI_Aint>({0, map.true_lb(), map.true_lb() + last});
  const MPI_Aint high = std::max<MPI_Aint>({0, map.true_ub(), map.true_ub() + last});
  origin_ = -low;
  bytes_.assign(static_cast<std::size_t>(high - low), fill);
  bytes_.reserve(bytes_.size() + 1);  // an address even if nothing is in it
}

std::vector<MPI_Aint> byte_places(const TypeMap& map, MPI_Count count) {
  std::vector<MPI_Aint> places;
  const MPI_Aint extent = map.extent();
  for (MPI_Count i = 0; i < count; ++i) {
    for (const TypeMap::Item& item : map.items) {
      for (std::size_t b = 0; b < size_of(item.element); ++b) {
        places.push_back(i * extent + item.disp + static_cast<MPI_Aint>(b));
      }
    }
  }
  return places;
}

}  // namespace heddle::test
