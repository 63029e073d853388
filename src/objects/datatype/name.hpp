// The name of a datatype in a message.
#pragma once

#include "objects/datatype/datatype.hpp"

namespace heddle::datatype {

// The standard's name, the user's, or else its constructor. Valid as long as the datatype and its name.
const char* label(const Datatype& type);

}  // namespace heddle::datatype
