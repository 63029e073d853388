#include "datatype/unnamed.hpp"

#include <array>
#include <map>
#include <mutex>

#include "datatype/compile.hpp"
#include "datatype/contents.hpp"
#include "datatype/predefined.hpp"

namespace heddle::datatype {
namespace {

// They are constants that do not exist before somebody asks, so the ranks of a process share them.
class Unnamed {
 public:
  using Key = std::array<std::uintptr_t, 3>;

  template <class Describe>
  Datatype& find(const Key& key, Contents&& contents, Describe&& describe) {
    const std::lock_guard guard(mutex_);
    Datatype*& type = types_[key];
    if (type == nullptr) {
      Datatype* made = make_object<Datatype>();
      describe(*made);
      made->contents = new Contents(std::move(contents));
      if (!made->dense) compile(*made);
      type = made;
    }
    return *type;
  }

 private:
  std::mutex mutex_;
  std::map<Key, Datatype*> types_;
};

Unnamed& unnamed() {
  static auto* const all = new Unnamed;  // never destroyed: a thread may use a datatype while the process exits
  return *all;
}

struct NamedPair {
  MPI_Datatype value, index, pair;
};

bool has_operations(const Datatype& value, const Datatype& index) {
  const auto is_number = [](const Datatype& type) {
    const ElementClass kind = class_of(type.element);
    return type.predefined && !type.is_pair() && (kind == ElementClass::integer || kind == ElementClass::real);
  };
  const bool wide = value.element == Element::i128 || value.element == Element::f16 || value.element == Element::f128;
  return is_number(value) && is_number(index) && !wide &&
         (index.element == Element::i32 || index.element == Element::i64);
}

}  // namespace

Datatype& unnamed_f90(int combiner, int p, int r, Element element) {
  Contents contents;
  contents.combiner = combiner;
  if (combiner != MPI_COMBINER_F90_INTEGER) contents.values.push_back(p);
  contents.values.push_back(r);
  const Unnamed::Key key{static_cast<std::uintptr_t>(combiner), static_cast<std::uintptr_t>(p),
                         static_cast<std::uintptr_t>(r)};
  return unnamed().find(key, std::move(contents), [&](Datatype& type) { describe_element(type, element); });
}

Datatype* pair_of(const Datatype& value, const Datatype& index) {
  const NamedPair named[] = {
      {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},      {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
      {MPI_LONG, MPI_INT, MPI_LONG_INT},        {MPI_INT, MPI_INT, MPI_2INT},
      {MPI_SHORT, MPI_INT, MPI_SHORT_INT},      {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
      {MPI_REAL, MPI_REAL, MPI_2REAL},          {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
      {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER},
  };
  for (const NamedPair& n : named) {
    if (predefined_datatype(n.value) == &value && predefined_datatype(n.index) == &index) {
      return predefined_datatype(n.pair);
    }
  }
  if (!has_operations(value, index)) return nullptr;
  Contents contents;
  contents.combiner = MPI_COMBINER_VALUE_INDEX;
  contents.types = {&value, &index};
  const Unnamed::Key key{MPI_COMBINER_VALUE_INDEX, value.handle, index.handle};
  return &unnamed().find(key, std::move(contents),
                         [&](Datatype& type) { describe_pair(type, value.element, index.element); });
}

}  // namespace heddle::datatype
