#!/usr/bin/env bash
# The wheel: its name says what it needs, pip installs it into a new environment, and there it compiles and runs a program
# with nothing but what lies in that environment.
# shellcheck source-path=SCRIPTDIR source=common.sh
build=$3 auditwheel=$4
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
tree=$(cd "$here/../.." && pwd)

wheel=$("$tree/tools/wheel/build.sh" "$build" made "$auditwheel")
[[ $wheel == made/heddle_mpi-*-py3-none-manylinux_2_*_x86_64.whl ]] || fail "the name $wheel"
# The same tree makes the same wheel.
again=$("$tree/tools/wheel/make.py" made/tree again)
cmp "$wheel" "$again" || fail "two wheels of one tree differ"

python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check --no-index --no-deps "$wheel"
home=$PWD/env
run() { env -i PATH="$home/bin:/usr/local/bin:/usr/bin:/bin" HOME="$PWD" "$@"; }

cp "$home/share/heddle/examples/demo.c" demo.c
run mpicc -O2 -std=c11 -pthread demo.c -o demo -lm
expect "library" "$home/lib/libmpi_abi.so.1" "$(library_of demo)"
run mpiexec -n 2 ./demo --quick | contains '^[1-9][0-9]* answers checked, 0 wrong' || fail "the demonstration"
run mpirun --ranks threads -n 2 ./demo --quick | contains ' 0 wrong' || fail "the demonstration, ranks as threads"
run mpicc "$here/hello.c" -o hello
run mpiexec --bind-to core -n 1 ./hello >/dev/null || fail "binding, which needs hwloc"

# Fortran, if the tree was built with it: the library and the modules lie in the environment, and are found from there.
if [[ -e made/tree/bin/mpifort ]]; then
  run mpifort "$here/../mpi/fortran/first.f90" -o first
  run ldd first | contains -F "$home/lib/libmpifort_abi.so.1" || fail "the library of Fortran: $(run ldd first)"
  run mpiexec -n 2 ./first | contains -x 'first: right' || fail "a program in Fortran"
fi

# Libraries that the loader finds for mpiexec, the module that it opens, and the ranks lie in the environment, but for libc.
for kind in processes threads; do
  rm -rf loaded
  mkdir loaded
  run LD_DEBUG=libs LD_DEBUG_OUTPUT="$PWD/loaded/by" mpiexec --bind-to core --ranks "$kind" -n 2 ./hello >/dev/null
  cat loaded/* | sed -n 's/.*calling init: //p' | xargs -d '\n' realpath -m | sort -u >libraries
  for library in lib/libmpi_abi.so.1 lib/heddle/libhwloc.so; do
    contains -F "$home/$library" <libraries || fail "$library is not used with $kind: $(cat libraries)"
  done
  while read -r library; do
    case $library in
      "$home"/* | */libc.so.6 | */libm.so.6 | */ld-linux-x86-64.so.2) ;;
      /proc/*/fd/*) ;; # a rank's own copy of the program
      *) fail "$library is used with $kind, which lies outside the environment" ;;
    esac
  done <libraries
done
python3 -m zipfile -e "$wheel" unpacked
! grep -rlF -- "$tree" unpacked || fail "a path of the source or build tree is remembered"

# All goes when it is uninstalled (pip leaves empty folders).
env/bin/python -m pip uninstall --quiet --yes --disable-pip-version-check heddle-mpi
left=$(find env/bin env/lib/libmpi* env/lib/heddle env/include env/share \( -name '*mpi*' -o -path '*heddle*' \) ! -type d 2>/dev/null || true)
[[ -z $left ]] || fail "left behind: $left"
echo passed
