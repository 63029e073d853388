// Data sieving (Thakur, Gropp and Lusk, "Data Sieving and Collective I/O in ROMIO", 1999): of runs that lie close to
// each other, what is between them is read too, with one call for many. A write then writes back what it has read and
// changed, which undoes what others write to the gaps meanwhile unless all who write lock: it is done only where the
// program asks for it (romio_ds_write).
#pragma once

#include "io/independent.hpp"

namespace heddle::io {

// Whether it pays, and is allowed.
bool is_for_sieving(const Access& access);

Moved sieve_read(const Access& access);
// With the range locked.
Moved sieve_write(const Access& access);

}  // namespace heddle::io
