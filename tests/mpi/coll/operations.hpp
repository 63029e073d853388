// The reductions that the tests use, with what a sequential program makes of them.
#pragma once

#include <array>

#include "harness.hpp"

namespace test {

using Element = std::array<int, 2>;  // the second int is not used by elements of one

struct Operation {
  std::string name;
  MPI_Op op;
  Type type;
  Element (*combine)(const Element& left, const Element& right);
  bool user = false;
};

inline unsigned u(int x) { return static_cast<unsigned>(x); }

// The composition of x -> a x + b: associative, and as far from commutative as can be.
inline Element compose(const Element& f, const Element& g) {
  return {static_cast<int>(u(f[0]) * u(g[0])), static_cast<int>(u(f[0]) * u(g[1]) + u(f[1]))};
}

// The user function has only the handle to know the layout from, so a table tells it.
inline std::vector<Type>& user_types() {
  static std::vector<Type> types;
  return types;
}

inline void apply_compose(void* in, void* inout, MPI_Count n, MPI_Datatype handle) {
  MPI_Count at = 0;
  const auto& types = user_types();
  const Type* type = nullptr;
  for (const Type& t : types) {
    if (t.handle == handle) type = &t;
  }
  if (!type) die("a user operation was called with a datatype that was not passed");
  for (; at < n; ++at) {
    int* x = static_cast<int*>(in) + at * type->extent;
    int* y = static_cast<int*>(inout) + at * type->extent;
    const auto first = type->offsets[0], second = type->offsets[1];
    const Element r = compose({x[first], x[second]}, {y[first], y[second]});
    y[first] = r[0];
    y[second] = r[1];
  }
}
inline void compose_function(void* in, void* inout, int* n, MPI_Datatype* type) { apply_compose(in, inout, *n, *type); }
inline void compose_function_c(void* in, void* inout, MPI_Count* n, MPI_Datatype* type) {
  apply_compose(in, inout, *n, *type);
}
inline void maximum_function(void* in, void* inout, int* n, MPI_Datatype*) {
  for (int i = 0; i < *n; ++i) {
    int& y = static_cast<int*>(inout)[i];
    y = std::max(y, static_cast<int*>(in)[i]);
  }
}

inline std::vector<Operation> all_operations() {
  user_types() = all_types();
  const auto& types = user_types();
  const Type& plain = types[0];
  MPI_Op composition, composition_c, maximum;
  MPI_Op_create(compose_function, 0, &composition);
  MPI_Op_create_c(compose_function_c, 0, &composition_c);
  MPI_Op_create(maximum_function, 1, &maximum);
  const auto larger = [](const Element& x, const Element& y) { return Element{std::max(x[0], y[0])}; };
  std::vector<Operation> out{
      {"sum", MPI_SUM, plain,
       [](const Element& x, const Element& y) { return Element{static_cast<int>(u(x[0]) + u(y[0]))}; }},
      {"max", MPI_MAX, plain, larger},
      {"bxor", MPI_BXOR, plain, [](const Element& x, const Element& y) { return Element{x[0] ^ y[0]}; }},
      {"minloc",
       MPI_MINLOC,
       {"2int", MPI_2INT, {0, 1}, 2},
       [](const Element& x, const Element& y) {
         return x[0] != y[0] ? (x[0] < y[0] ? x : y) : Element{x[0], std::min(x[1], y[1])};
       }},
      {"user max", maximum, plain, larger, true},
      {"composition, large", composition_c, types[1], compose, true}};
  for (std::size_t i = 1; i < types.size(); ++i) {
    out.push_back({std::string("composition of ") + types[i].name, composition, types[i], compose, i == 1});
  }
  return out;
}

inline void free_operations(std::vector<Operation>& operations) {
  for (Operation& o : operations) {
    if (o.user) MPI_Op_free(&o.op);
  }
  for (Type& type : user_types()) {
    if (type.handle != MPI_INT) MPI_Type_free(&type.handle);
  }
}

// Element `e` of rank r's operand.
inline int operand(const Operation& o, int r, MPI_Count i) {
  if (o.op == MPI_MINLOC) return i % 2 == 0 ? (r * 5 + static_cast<int>(i / 2)) % 3 : r;
  return value(r, 0, i) | 1;
}
inline Element operand_element(const Operation& o, int r, MPI_Count e) {
  Element x{};
  for (int j = 0; j < o.type.ints(); ++j) x[static_cast<std::size_t>(j)] = operand(o, r, e * o.type.ints() + j);
  return x;
}
// The reduction of element `e` over ranks [0, n).
inline Element reduced(const Operation& o, int n, MPI_Count e) {
  Element x = operand_element(o, 0, e);
  for (int r = 1; r < n; ++r) x = o.combine(x, operand_element(o, r, e));
  return x;
}

}  // namespace test
