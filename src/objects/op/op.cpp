#include "objects/op/op.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <string_view>
#include <type_traits>

#include "objects/datatype/name.hpp"
#include "objects/op/kernels.hpp"

namespace heddle {
namespace op {
namespace {

constexpr std::uintptr_t first_constant = 0x20;

struct Row {
  Code code;
  char name[12];
};
constexpr Row rows[] = {
    {Code::sum, "MPI_SUM"},         {Code::min, "MPI_MIN"},       {Code::max, "MPI_MAX"},
    {Code::prod, "MPI_PROD"},       {Code::band, "MPI_BAND"},     {Code::bor, "MPI_BOR"},
    {Code::bxor, "MPI_BXOR"},       {Code::land, "MPI_LAND"},     {Code::lor, "MPI_LOR"},
    {Code::lxor, "MPI_LXOR"},       {Code::minloc, "MPI_MINLOC"}, {Code::maxloc, "MPI_MAXLOC"},
    {Code::replace, "MPI_REPLACE"}, {Code::no_op, "MPI_NO_OP"},
};

struct Table {
  Op ops[32];  // at constant - first_constant; those that the standard does not define have no handle

  constexpr Table() {
    for (const Row& row : rows) {
      Op& op = ops[static_cast<std::size_t>(row.code) - first_constant];
      op.handle = static_cast<std::uintptr_t>(row.code);
      op.predefined = true;
    }
    // Replacing depends most on the order.
    ops[static_cast<std::size_t>(Code::replace) - first_constant].commutative = false;
    ops[static_cast<std::size_t>(Code::no_op) - first_constant].commutative = false;
  }
};

constinit Table table;

Code code_of(const Op& op) { return static_cast<Code>(op.handle); }

const char* name_of(Code code) {
  for (const Row& row : rows) {
    if (row.code == code) return row.name;
  }
  return "";
}

bool is_char(const Datatype& type) { return type.handle == reinterpret_cast<std::uintptr_t>(MPI_CHAR); }

// MPI_CHAR is C's char as a number here; check_reducible decides if that is allowed (ADR 0094).
Element number_of(const Datatype& type) {
  if (!is_char(type)) return type.element;
  return std::is_signed_v<char> ? Element::i8 : Element::u8;
}

// The standard defines no arithmetic on characters, but MPICH and Open MPI do, and programs rely on it. Prints one note
// about it; in a job of mpiexec from rank 0.
bool takes_char_for_number(const char* op) {
  const char* const strict = std::getenv("HEDDLE_STRICT_CHAR");
  if (strict != nullptr && std::string_view(strict) == "1") return false;
  static std::atomic_flag told = ATOMIC_FLAG_INIT;
  const char* const rank = std::getenv("HEDDLE_RANK");
  if (!told.test_and_set(std::memory_order_relaxed) && (rank == nullptr || std::string_view(rank) == "0"))
    std::fprintf(
        stderr,
        "heddle: %s on MPI_CHAR: MPI 5.0 (section 6.9.2) defines no arithmetic on characters; they are treated as "
        "small integers, as by other libraries. Use MPI_SIGNED_CHAR; HEDDLE_STRICT_CHAR=1 makes this an error\n",
        op);
  return true;
}

bool reduce_predefined(Code code, const Datatype& type, const void* in, void* inout, std::size_t n) {
  switch (code) {
    case Code::minloc:
    case Code::maxloc:
      return type.is_pair() && reduce_location(code, type.value, type.index, in, inout, n);
    case Code::land:
    case Code::lor:
    case Code::lxor:
      return !type.is_pair() && reduce_logical(code, number_of(type), in, inout, n);
    default:
      return !type.is_pair() && reduce_arithmetic(code, number_of(type), in, inout, n);
  }
}

void call_user(const Op& op, const void* in, void* inout, MPI_Count count, const Datatype& type) {
  const LentHandle lent(const_cast<Datatype&>(type));
  auto handle = reinterpret_cast<MPI_Datatype>(lent.value());
  auto* from = static_cast<char*>(const_cast<void*>(in));
  auto* to = static_cast<char*>(inout);
  if (op.large_function != nullptr) return op.large_function(from, to, &count, &handle);
  while (count > 0) {
    int some = static_cast<int>(std::min<MPI_Count>(count, std::numeric_limits<int>::max()));
    op.function(from, to, &some, &handle);
    // The function may have changed what it was given pointers to.
    handle = reinterpret_cast<MPI_Datatype>(lent.value());
    const MPI_Count done = std::min<MPI_Count>(count, std::numeric_limits<int>::max());
    from += done * type.extent;
    to += done * type.extent;
    count -= done;
  }
}

}  // namespace
}  // namespace op

Op* predefined_op(MPI_Op constant) {
  const std::uintptr_t position = reinterpret_cast<std::uintptr_t>(constant) - op::first_constant;
  if (position >= std::size(op::table.ops)) return nullptr;
  Op& found = op::table.ops[position];
  return found.handle == 0 ? nullptr : &found;
}

Op* object(MPI_Op handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  return value >= arena::first_user_handle ? live_object<Op>(value) : predefined_op(handle);
}

Error check_reducible(const Op& op, const Datatype& type) {
  if (!op.predefined) return success;
  const op::Code code = op::code_of(op);
  const char* name = op::name_of(code);
  if (code == op::Code::replace || code == op::Code::no_op) {
    return fail(MPI_ERR_OP, "%s is for one-sided communication only", name);
  }
  if (!type.predefined) {
    return fail(MPI_ERR_OP, "%s is defined for predefined datatypes only, and %s is not", name, datatype::label(type));
  }
  if (op::reduce_predefined(code, type, nullptr, nullptr, 0) && (!op::is_char(type) || op::takes_char_for_number(name)))
    return success;
  return fail(MPI_ERR_OP, "%s is not defined for %s", name, datatype::label(type));
}

void reduce_local(const Op& op, const void* in, void* inout, MPI_Count count, const Datatype& type) {
  if (count == 0) return;
  if (!op.predefined) return op::call_user(op, in, inout, count, type);
  switch (op::code_of(op)) {
    case op::Code::replace:
      copy(type, in, count, type, inout, count);
      return;
    case op::Code::no_op:
      return;
    default:
      op::reduce_predefined(op::code_of(op), type, in, inout, static_cast<std::size_t>(count));
  }
}

}  // namespace heddle
