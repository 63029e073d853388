#!/usr/bin/env bash
# run.sh PREFIX: compiles a program in C and Fortran with the installed wrappers and runs it; each rank says "right".
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1/bin/mpicc" -O1 -Wall -Werror -c "$here/c.c" -o "$work/c.o"
"$1/bin/mpifort" -O1 -w -fallow-argument-mismatch -J "$work" -c "$here/fortran.f90" -o "$work/fortran.o"
"$1/bin/mpifort" "$work/c.o" "$work/fortran.o" -o "$work/program"
# C's part in a library, as of a tool: the sentinels are those of the program that loads it.
"$1/bin/mpicc" -O1 -fPIC -Wall -Werror -shared "$here/c.c" -o "$work/libpart.so"
"$1/bin/mpifort" "$work/fortran.o" "-L$work" "-Wl,-rpath,$work" -Wl,--no-as-needed -lpart -o "$work/program-library"
for program in program program-library; do
  for ranks in processes threads; do
    said=$("$1/bin/mpiexec" --timeout 60 --ranks "$ranks" -n 2 "$work/$program")
    [[ $said == $'mixed: right\nmixed: right' ]] || { printf 'FAILED: %s %s: %s\n' "$program" "$ranks" "$said" >&2; exit 1; }
  done
done
