#include "objects/datatype/compile.hpp"
#include "objects/datatype/datatype.hpp"

namespace heddle {

void commit(Datatype& type) {
  if (type.committed) return;
  datatype::compile(type);
  type.committed = true;
}

}  // namespace heddle
