// The representation "external32" (MPI 5.0, section 14.5.2): big-endian, IEEE, and of widths that are the same
// everywhere.
#pragma once

#include "objects/datatype/datatype.hpp"
#include "objects/object/error.hpp"

namespace heddle::datatype {

// Bytes of one element of the datatype in external32.
MPI_Count external_size(const Datatype& type);

// `count` elements to or from exactly count * external_size bytes. A number that the narrower side cannot hold is an
// MPI_ERR_CONVERSION.
Error encode_external(const Datatype& type, const void* buf, MPI_Count count, void* out);
Error decode_external(const Datatype& type, void* buf, MPI_Count count, const void* in);

}  // namespace heddle::datatype
