# shellcheck shell=bash disable=SC2034  # sourced
# Sourced by the tests of this folder: TEST PREFIX WORK, with WORK emptied and made the current folder.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=$(cd "$1" && pwd)
rm -rf "$2"
mkdir -p "$2"
cd "$2"
# None of the variables that choose another compiler may leak in.
unset MPICC_CC MPICH_CC OMPI_CC I_MPI_CC HEDDLE_CC MPICXX_CXX MPICH_CXX OMPI_CXX I_MPI_CXX HEDDLE_CXX LD_LIBRARY_PATH

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

# expect WHAT WANTED GOT
expect() { [[ $2 == "$3" ]] || fail "$1: wanted '$2', got '$3'"; }

# Configures and builds a CMake project of this folder.
build() { # NAME CMAKE-ARGS...
  local name=$1
  shift
  if ! { cmake -G Ninja -S "$here/$name" -B "$name" -DCMAKE_BUILD_TYPE=Release "$@" && cmake --build "$name"; } &>"$name.log"; then
    cat "$name.log" >&2
    fail "$name"
  fi
}

# The library that a program will really load.
library_of() { ldd "$1" | sed -n 's/.*libmpi_abi.so.1 => \(.*\) (.*/\1/p'; }

# contains ARGS-OF-GREP: reads all of its input, which `grep -q` does not: under pipefail, what writes into a pipe that
# nobody reads any more has failed.
contains() { grep "$@" >/dev/null; }
