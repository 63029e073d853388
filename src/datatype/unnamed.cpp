#include "datatype/unnamed.hpp"

#include <map>
#include <mutex>
#include <tuple>

#include "datatype/contents.hpp"
#include "datatype/predefined.hpp"

namespace heddle::datatype {
namespace {

// They are constants that do not exist before somebody asks, so the ranks of a process share them.
struct Unnamed {
  std::mutex mutex;
  std::map<std::tuple<int, int, int>, Datatype*> types;
};

Unnamed& unnamed() {
  static auto* const all = new Unnamed;  // never destroyed: a thread may use a datatype while the process exits
  return *all;
}

}  // namespace

Datatype& unnamed_f90(int combiner, int p, int r, Element element) {
  Unnamed& all = unnamed();
  const std::lock_guard guard(all.mutex);
  Datatype*& type = all.types[{combiner, p, r}];
  if (type == nullptr) {
    type = make_object<Datatype>();
    describe_element(*type, element);
    type->contents = new Contents{combiner, false, {r}, 0, {}};
    if (combiner != MPI_COMBINER_F90_INTEGER) type->contents->values = {p, r};
  }
  return *type;
}

}  // namespace heddle::datatype
