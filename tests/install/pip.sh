#!/usr/bin/env bash
# The recipe for mpi4py, on a package as small as can be: with --no-cache-dir what pip builds against a prefix is for that prefix,
# though pip keeps a wheel of the same name and version that was built against another. Without the option it is not.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

mkdir -p probe-1.0 archives
cp "$here"/pip/* probe-1.0
tar -czf archives/probe-1.0.tar.gz probe-1.0
cp -a "$prefix" other
python3 -m venv env
unset PIP_NO_CACHE_DIR
export PIP_CACHE_DIR=$PWD/cache PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1 PIP_FIND_LINKS=$PWD/archives

# installed WHERE PREFIX OPTIONS: the library that the module loads.
installed() {
  MPICC=$2/bin/mpicc env/bin/pip install -q --no-binary probe --no-build-isolation --target "$1" "${@:3}" probe
  PYTHONPATH=$1 env/bin/python -c 'import probe; print(probe.library())'
}

expect "the first prefix" "$prefix/lib/libmpi_abi.so.1" "$(installed first "$prefix")"
expect "the other, from pip's cache" "$prefix/lib/libmpi_abi.so.1" "$(installed cached "$PWD/other")"
expect "the other, without the cache" "$PWD/other/lib/libmpi_abi.so.1" "$(installed second "$PWD/other" --no-cache-dir)"
expect "the first again" "$prefix/lib/libmpi_abi.so.1" "$(installed third "$prefix" --no-cache-dir)"
echo passed
