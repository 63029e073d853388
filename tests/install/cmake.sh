#!/usr/bin/env bash
# find_package(MPI) with MPI_HOME, for C and C++, with CMake's own module; find_package(heddle) with its own package.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build find-mpi "-DMPI_HOME=$prefix"
grep -q "Found MPI_C:.*found version \"5.0\"" find-mpi.log || fail "the version that FindMPI sees"
expect "the launcher that FindMPI finds" "$prefix/bin/mpiexec" \
  "$(sed -n 's/^MPIEXEC_EXECUTABLE:FILEPATH=//p' find-mpi/CMakeCache.txt)"
build find-heddle "-DCMAKE_PREFIX_PATH=$prefix"

for program in find-mpi/hello-c find-mpi/hello-cxx find-heddle/hello; do
  expect "library of $program" "$prefix/lib/libmpi_abi.so.1" "$(library_of "$program")"
  expect "$program" $'0 of 2, MPI 5.0\n1 of 2, MPI 5.0' "$("$prefix/bin/mpiexec" -n 2 "$program" | sort)"
done
echo passed
