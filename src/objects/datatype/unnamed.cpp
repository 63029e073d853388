#include "objects/datatype/unnamed.hpp"

#include <map>
#include <mutex>
#include <tuple>

#include "base/threads/mutex.hpp"
#include "objects/datatype/contents.hpp"
#include "objects/datatype/predefined.hpp"

namespace heddle::datatype {
namespace {

// They are constants that are made on demand, so the ranks of a process share them.
struct Unnamed {
  threads::Mutex mutex;
  // The contents stay here rather than on the heap by themselves, so that a leak checker, which does not look into the
  // arena, finds them.
  struct Made {
    Datatype* type = nullptr;
    Contents contents;
  };
  std::map<std::tuple<int, int, int>, Made> types;
};

Unnamed& unnamed() {
  static auto* const all = new Unnamed;  // never destroyed: a thread may use a datatype while the process exits
  return *all;
}

}  // namespace

Datatype& unnamed_f90(int combiner, int p, int r, Element element) {
  Unnamed& all = unnamed();
  const std::lock_guard guard(all.mutex);
  Unnamed::Made& made = all.types[{combiner, p, r}];
  if (made.type == nullptr) {
    made.contents.combiner = combiner;
    if (combiner != MPI_COMBINER_F90_INTEGER) made.contents.values.push_back(p);
    made.contents.values.push_back(r);
    made.type = make_object<Datatype>();
    describe_element(*made.type, element);
    made.type->contents = &made.contents;
  }
  return *made.type;
}

}  // namespace heddle::datatype
