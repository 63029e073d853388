#!/usr/bin/env bash
# An installed tree remembers no path: moved, to a name with a space in it, it works as before.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

rm -rf "$prefix.away" # of a run that was killed
cp -a "$prefix" "a new home"
mv "$prefix" "$prefix.away" # nothing may still be found in the old place
trap 'mv "$prefix.away" "$prefix"' EXIT
"./a new home/bin/mpicc" "$here/hello.c" -o hello
expect "library" "$PWD/a new home/lib/libmpi_abi.so.1" "$(library_of hello)"
expect "two ranks" $'0 of 2, MPI 5.0\n1 of 2, MPI 5.0' "$("./a new home/bin/mpiexec" -n 2 ./hello | sort)"
! grep -rlF -- "$prefix" "a new home/bin" "a new home/lib/cmake" "a new home/lib/pkgconfig" || fail "a path is remembered"
echo passed
