#!/usr/bin/env bash
# mpi.h declares C's side of Fortran: all conversions that the library exports, in strict C and C++, and for tools that learn of
# mpicc -show no more than its -I.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

includes=$("$prefix/bin/mpicc" -show | tr ' ' '\n' | grep '^-I')
expect "-I of mpicc -show" "-I$prefix/include" "$includes"
for language in "cc -std=c99" "c++ -x c++ -std=c++11"; do
  # shellcheck disable=SC2086  # words
  $language -pedantic -Wall -Wextra -Werror $includes -c "$here/conversions.c" -o conversions.o || fail "$language"
done
"$prefix/bin/mpicc" "$here/conversions.c" -o conversions
./conversions || fail "sentinels in a program without Fortran"

nm -D --defined-only "$prefix/lib/libmpi_abi.so.1" |
  sed -nE 's/.* (P?MPI_[A-Za-z]+_(c2f|f2c|c2f08|f082c|f2f08|f082f))(@.*)?$/\1/p' | sort -u >exported
(($(wc -l <exported) >= 56)) || fail "conversions that the library exports: $(cat exported)"
{
  printf '#include <mpi.h>\nvoid (*const all[])(void) = {\n'
  sed 's/.*/  (void (*)(void))&,/' exported
  printf '};\n'
} >all.c
"$prefix/bin/mpicc" -c all.c || fail "mpi.h lacks some of these: $(cat exported)"
echo passed
