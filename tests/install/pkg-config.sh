#!/usr/bin/env bash
# pkg-config, and the names of other MPIs: every name gives flags that compile and link.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig PKG_CONFIG_LIBDIR= # not what this machine has installed

for name in heddle mpi mpi-c mpi-cxx; do
  pkg-config --validate "$name"
  read -ra flags < <(pkg-config --cflags --libs "$name")
  cc "$here/hello.c" -o "$name" "${flags[@]}"
  expect "$name" "0 of 1, MPI 5.0" "$("./$name")"
done

# Other MPIs' names, only where the folder is asked for.
pkg-config --exists mpich && fail "mpich is found without being asked for"
for name in mpich ompi; do
  read -ra flags < <(PKG_CONFIG_PATH=$prefix/lib/heddle/compat pkg-config --cflags --libs "$name")
  cc "$here/hello.c" -o "$name" "${flags[@]}"
  expect "$name" "0 of 1, MPI 5.0" "$("./$name")"
  libdir=$(PKG_CONFIG_PATH=$prefix/lib/heddle/compat pkg-config --variable=libdir "$name")
  cc "$here/hello.c" -o "$name" -I "$prefix/include" "-L$libdir" -lmpi
  expect "$name, libdir alone" "0 of 1, MPI 5.0" "$(LD_LIBRARY_PATH=$prefix/lib "./$name")"
done
cc "$here/hello.c" -o by_name -I "$prefix/include" -L "$prefix/lib/heddle/compat" -lmpi -Wl,-rpath,"$prefix/lib"
expect "library of -lmpi" "$prefix/lib/libmpi_abi.so.1" "$(library_of by_name)"
expect "-lmpi" "0 of 1, MPI 5.0" "$(./by_name)"
echo passed
