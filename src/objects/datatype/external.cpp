#include "objects/datatype/external.hpp"

#include <algorithm>
#include <cstring>

#include "objects/datatype/elements.hpp"
#include "objects/datatype/name.hpp"
#include "objects/datatype/predefined.hpp"

namespace heddle::datatype {
namespace {

// One number in memory and outside.
struct Field {
  Element element;
  std::size_t parts;  // 2 for complex numbers
  std::size_t width;  // of a part in memory
  std::size_t outside;
  std::size_t place;  // within the leaf, in memory
};

struct Fields {
  Field field[2];
  int n;
  std::size_t outside() const {
    std::size_t sum = 0;
    for (int i = 0; i < n; ++i) sum += field[i].parts * field[i].outside;
    return sum;
  }
};

Field field_of(Element element, bool c_long, std::size_t place) {
  const std::size_t parts = class_of(element) == ElementClass::complex ? 2 : 1;
  const std::size_t width = size_of(element) / parts;
  // C's long has 4 bytes outside, whatever it has here; MPI_WCHAR has 2.
  const std::size_t outside = c_long ? 4 : element == Element::wide_character ? 2 : width;
  return {element, parts, width, outside, place};
}

Fields fields_of(const Datatype& leaf) {
  const auto constant = reinterpret_cast<MPI_Datatype>(leaf.handle);
  const bool c_long = constant == MPI_LONG || constant == MPI_UNSIGNED_LONG || constant == MPI_LONG_INT;
  if (!leaf.is_pair()) return {{field_of(leaf.element, c_long, 0)}, 1};
  return {{field_of(leaf.value, c_long, 0), field_of(leaf.index, false, index_place(leaf.value, leaf.index))}, 2};
}

constexpr bool is_signed(Element e) { return e >= Element::i8 && e <= Element::i128; }
constexpr bool is_long_double(Element e) { return e == Element::fx || e == Element::cx; }

void reverse_copy(char* to, const char* from, std::size_t n) { std::reverse_copy(from, from + n, to); }

// Numbers that are wider here than outside have at most 8 bytes.
bool narrow(const Field& f, const char* from, char* to) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, f.width);
  const unsigned bits = static_cast<unsigned>(f.outside) * 8;
  if (is_signed(f.element)) {
    const auto number = static_cast<std::int64_t>(value);
    if (number >> (bits - 1) != 0 && number >> (bits - 1) != -1) return false;
  } else if (value >> bits != 0) {
    return false;
  }
  reverse_copy(to, reinterpret_cast<const char*>(&value), f.outside);
  return true;
}

void widen(const Field& f, const char* from, char* to) {
  std::uint64_t value = 0;
  reverse_copy(reinterpret_cast<char*>(&value), from, f.outside);
  const unsigned unused = 64 - static_cast<unsigned>(f.outside) * 8;
  if (is_signed(f.element)) value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
  std::memcpy(to, &value, f.width);
}

bool encode(const Field& f, const char* from, char* to) {
  if (f.outside != f.width) return narrow(f, from, to);
  if (is_long_double(f.element)) {
    long double value;
    std::memcpy(&value, from, sizeof value);
    const __float128 wide = value;
    reverse_copy(to, reinterpret_cast<const char*>(&wide), sizeof wide);
  } else {
    reverse_copy(to, from, f.width);
  }
  return true;
}

void decode(const Field& f, const char* from, char* to) {
  if (f.outside != f.width) return widen(f, from, to);
  if (is_long_double(f.element)) {
    __float128 wide;
    reverse_copy(reinterpret_cast<char*>(&wide), from, sizeof wide);
    const auto value = static_cast<long double>(wide);
    constexpr std::size_t used = 10;  // of the x87's number; the rest is padding
    std::memcpy(to, &value, used);
    std::memset(to + used, 0, sizeof value - used);
  } else {
    reverse_copy(to, from, f.width);
  }
}

// Calls each(field, address in memory) for every number; stops at false.
template <class Each>
bool for_each_number(const Datatype& type, const void* buf, MPI_Count count, Each&& each) {
  const auto at = reinterpret_cast<std::uintptr_t>(buf);
  return for_each_leaf(type, at, count, [&](const Datatype& leaf, std::uintptr_t place, MPI_Count n) {
    const Fields fields = fields_of(leaf);
    for (; n > 0; --n, place += static_cast<std::uintptr_t>(leaf.extent)) {
      for (int i = 0; i < fields.n; ++i) {
        const Field& f = fields.field[i];
        for (std::size_t part = 0; part < f.parts; ++part) {
          if (!each(f, reinterpret_cast<char*>(place + f.place + part * f.width))) return false;
        }
      }
    }
    return true;
  });
}

}  // namespace

MPI_Count external_size(const Datatype& type) {
  if (type.predefined) return static_cast<MPI_Count>(fields_of(type).outside());
  MPI_Count size = 0;
  for_each_leaf(type, 0, 1, [&](const Datatype& leaf, std::uintptr_t, MPI_Count n) {
    size += n * static_cast<MPI_Count>(fields_of(leaf).outside());
    return true;
  });
  return size;
}

Error encode_external(const Datatype& type, const void* buf, MPI_Count count, void* out) {
  char* to = static_cast<char*>(out);
  const bool done = for_each_number(type, buf, count, [&](const Field& f, const char* from) {
    if (!encode(f, from, to)) return false;
    to += f.outside;
    return true;
  });
  if (done) return success;
  return fail(MPI_ERR_CONVERSION, "a number in a buffer of %s does not fit its width in external32", label(type));
}

Error decode_external(const Datatype& type, void* buf, MPI_Count count, const void* in) {
  const char* from = static_cast<const char*>(in);
  for_each_number(type, buf, count, [&](const Field& f, char* to) {
    decode(f, from, to);
    from += f.outside;
    return true;
  });
  return success;
}

}  // namespace heddle::datatype
