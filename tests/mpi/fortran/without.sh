#!/usr/bin/env bash
# without.sh SOURCE: where no Fortran compiler is found, a build is configured that has nothing of Fortran in it, and says so.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

cmake -S "$1" -B "$work/build" -G Ninja -D CMAKE_Fortran_COMPILER= -D HEDDLE_TESTS=OFF -D HEDDLE_BENCH=OFF >"$work/said" 2>&1 ||
  fail "it cannot be configured: $(cat "$work/said")"
grep -q "No Fortran compiler is found (Debian: gfortran), so Fortran's bindings are left out" "$work/said" ||
  fail "it does not say that Fortran is left out: $(cat "$work/said")"
ninja -C "$work/build" -t targets all >"$work/targets"
grep -q libmpi_abi "$work/targets" || fail "there is no library to build"
! grep -E 'libmpifort|\.f90' "$work/targets" || fail "parts of Fortran are built"
! grep -rE 'libmpifort|bin/mpif|mpif\.h|\.mod"' --include=cmake_install.cmake "$work/build" || fail "parts of Fortran are installed"
