#!/usr/bin/env bash
# pkg-config: every name gives flags that compile and link.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig

for name in heddle mpi mpi-c mpi-cxx; do
  pkg-config --validate "$name"
  read -ra flags < <(pkg-config --cflags --libs "$name")
  cc "$here/hello.c" -o "$name" "${flags[@]}"
  expect "$name" "0 of 1, MPI 5.0" "$("./$name")"
done
echo passed
