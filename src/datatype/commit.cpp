#include "datatype/compile.hpp"
#include "datatype/datatype.hpp"

namespace heddle {

void commit(Datatype& type) {
  if (type.committed) return;
  datatype::compile(type);
  type.committed = true;
}

}  // namespace heddle
