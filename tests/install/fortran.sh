#!/usr/bin/env bash
# mpifort: what it answers, which modules and library it takes, and that it finds itself in a tree that was moved.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
unset MPIFORT_FC MPICH_FC OMPI_FC I_MPI_FC HEDDLE_FC
mpifort=$prefix/bin/mpifort

modules=$(cd "$prefix/include/heddle" && echo gfortran-mod1[0-9])
link="-L$prefix/lib -Wl,-rpath,$prefix/lib -Wl,--enable-new-dtags"
expect "-show" "gfortran -I$prefix/include/heddle/$modules -I$prefix/include a.f90 $link -lmpifort_abi -lmpi_abi" \
  "$("$mpifort" -show a.f90)"
expect "-show -i8" \
  "gfortran -I$prefix/include/heddle/$modules-i8 -I$prefix/include -fdefault-integer-8 a.f90 $link -lmpifort_abi_i8 -lmpi_abi" \
  "$("$mpifort" -i8 -show a.f90)"
expect "-showme:libs" "mpifort_abi mpi_abi" "$("$mpifort" -showme:libs)"
expect "-showme:compile" "-I$prefix/include/heddle/$modules -I$prefix/include" "$("$mpifort" -showme:compile)"
for variable in MPIFORT_FC MPICH_FC OMPI_FC HEDDLE_FC; do
  [[ $(env "$variable=other" "$mpifort" -show -c a.f90) == "other "* ]] || fail "$variable"
done
[[ $("$mpifort" -fc=other -show -c a.f90) == "other "* ]] || fail "-fc="
for name in mpif90 mpif77; do
  expect "$name" "$("$mpifort" -show a.f90)" "$("$prefix/bin/$name" -show a.f90)"
done

# CMake's own module finds all three interfaces: its programs use a name of each group that they have.
build find-mpi-fortran "-DMPI_HOME=$prefix"
for found in "interface F77_HEADER: TRUE" "interface F90_MODULE: TRUE" "interface F08_MODULE: TRUE" \
  "SUBARRAYS: TRUE FALSE" "ASYNCPROT: TRUE FALSE"; do
  contains -F -- "-- $found" <find-mpi-fortran.log || fail "FindMPI does not say '$found': $(cat find-mpi-fortran.log)"
done
"$prefix/bin/mpiexec" -n 2 find-mpi-fortran/first | contains -x 'first: right' || fail "a program that CMake has built"

# The variables that wrappers read are known to the launcher and to the library, which report any other that begins as ours do.
mapfile -t read_by_wrappers < <(grep -oh 'HEDDLE_[A-Z_]*' "$prefix"/bin/mpi{cc,cxx,fort} | sort -u)
for variable in "${read_by_wrappers[@]}"; do
  said=$(env "$variable=gcc" "$prefix/bin/mpiexec" -n 1 find-mpi-fortran/first 2>&1)
  expect "what is said with $variable" "first: right" "$said"
done

# Compilers that are not there, and that read another format.
said=$("$mpifort" -fc=no-such-compiler -c a.f90 2>&1) && fail "a compiler that is not there"
[[ $said == *"there is no Fortran compiler 'no-such-compiler' here"*"apt-get install gfortran"* ]] || fail "no compiler: $said"
printf '#!/bin/sh\necho 99.1.0\n' >strange
chmod +x strange
said=$("$mpifort" -fc=./strange -c a.f90 2>&1) && [[ $modules == gfortran-mod15 ]] && fail "a compiler of another format"
[[ $modules != gfortran-mod15 || $said == *"there are no modules for './strange' (version 99.1.0); there are: gfortran-"* ]] ||
  fail "another format: $said"

# Somewhere else, through a link, with a space in the name.
cp -a "$prefix" "a new home"
ln -s "a new home/bin/mpifort" elsewhere
./elsewhere "$here/../mpi/fortran/first.f90" -o first
ldd first | contains -F "$PWD/a new home/lib/libmpifort_abi.so.1" || fail "the library in a tree that was moved: $(ldd first)"
"./a new home/bin/mpiexec" -n 2 ./first | contains -x 'first: right' || fail "a program of a tree that was moved"
echo passed
