#!/usr/bin/env bash
# The compiler wrappers: what they compile runs, and what they answer.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
mpicc=$prefix/bin/mpicc

# In one step and in two, in both languages, with either name of the launcher.
"$mpicc" "$here/hello.c" -o one
cp "$here/hello.c" hello.cpp
for name in mpicxx mpic++; do
  "$prefix/bin/$name" -c hello.cpp -o hello.o
  "$prefix/bin/$name" hello.o -o "$name"
done
for program in one mpicxx mpic++; do
  expect "library of $program" "$prefix/lib/libmpi_abi.so.1" "$(library_of "$program")"
  expect "$program on two ranks" $'0 of 2, MPI 5.0\n1 of 2, MPI 5.0' "$("$prefix/bin/mpiexec" -n 2 "./$program" | sort)"
done
expect "mpirun" $'0 of 2, MPI 5.0\n1 of 2, MPI 5.0' "$("$prefix/bin/mpirun" -np 2 ./one | sort)"
expect "without a launcher" "0 of 1, MPI 5.0" "$(./one)"

# LD_LIBRARY_PATH must win over the path in the program, so that another implementation of the ABI can be put under it.
readelf -d one | contains RUNPATH || fail "the program has no RUNPATH"

# Questions.
expect "-show" "cc -I$prefix/include a.c -L$prefix/lib -Wl,-rpath,$prefix/lib -Wl,--enable-new-dtags -lmpi_abi" \
  "$("$mpicc" -show a.c)"
expect "-show -c" "cc -I$prefix/include -c a.c" "$("$mpicc" -show -c a.c)"
expect "-show with a quoted word" "cc -I$prefix/include '-DNAME=\"a b\"' -c a.c" "$("$mpicc" '-DNAME="a b"' -show -c a.c)"
expect "-compile_info" "cc -I$prefix/include" "$("$mpicc" -compile_info)"
expect "-link_info" "cc -L$prefix/lib -Wl,-rpath,$prefix/lib -Wl,--enable-new-dtags -lmpi_abi" "$("$mpicc" -link_info)"
expect "-showme:compile" "-I$prefix/include" "$("$mpicc" -showme:compile)"
expect "-showme:link" "-L$prefix/lib -Wl,-rpath,$prefix/lib -Wl,--enable-new-dtags -lmpi_abi" \
  "$("$mpicc" -showme:link)"
expect "-showme:incdirs" "$prefix/include" "$("$mpicc" -showme:incdirs)"
expect "-showme:libdirs" "$prefix/lib" "$("$mpicc" -showme:libdirs)"
expect "-showme:libs" mpi_abi "$("$mpicc" -showme:libs)"
expect "-showme:command" cc "$("$mpicc" -showme:command)"
"$mpicc" -showme:version | contains -x 'mpicc: Heddle [0-9.]* (Language: C)' || fail "-showme:version"
version=$("$prefix/bin/mpiexec" --version | sed -n 's/^mpiexec (Heddle) //p')
[[ $version == [0-9]*.* ]] || fail "mpiexec --version: '$version'"
expect "heddle --version" "heddle (Heddle) $version" "$("$prefix/bin/heddle" --version)"
expect "version of mpicc" "mpicc: Heddle $version (Language: C)" "$("$mpicc" -showme:version)"
"$mpicc" -showme:nonsense 2>/dev/null && fail "an unknown question must fail"

# Another compiler, by option and by variable; a compiler that carries options.
expect "-cc=" "other -I$prefix/include -c a.c" "$("$mpicc" -cc=other -show -c a.c)"
for variable in MPICC_CC MPICH_CC OMPI_CC HEDDLE_CC; do
  expect "$variable" "other -I$prefix/include -c a.c" "$(env "$variable=other" "$mpicc" -show -c a.c)"
done
expect "MPICH_CXX" "other -I$prefix/include -c a.c" "$(MPICH_CXX=other "$prefix/bin/mpicxx" -show -c a.c)"
MPICH_CC="env cc" "$mpicc" "$here/hello.c" -o carried || fail "a compiler with options"

# Everything else reaches the compiler as it came, and a question to the compiler is not answered by the linker.
"$mpicc" -v 2>&1 | contains 'gcc version\|clang version' || fail "-v"
"$mpicc" --version >/dev/null || fail "--version"
printf '#include <mpi.h>\nint size = sizeof NAME;\n' >named.c
"$mpicc" '-DNAME="a b; (c)"' -c named.c || fail "an argument with spaces"
"$mpicc" -E -dM -x c /dev/null | contains __GNUC__ || fail "-E"
"$mpicc" no-such-file.c 2>/dev/null && fail "the compiler's failure must be the wrapper's"
for name in "no-such-compiler" "/nowhere/cc -m64"; do
  said=$(MPICH_CC=$name "$mpicc" "$here/hello.c" 2>&1) && fail "a compiler that is not there"
  [[ $said == "mpicc: there is no C compiler '${name%% *}' here. "*"HEDDLE_CC."* ]] || fail "a compiler that is not there: $said"
done
ln -s "$mpicc" elsewhere
expect "through a link" "$prefix/include" "$(./elsewhere -showme:incdirs)"
echo passed
