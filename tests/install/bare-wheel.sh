#!/usr/bin/env bash
# The proof that the wheel and three commands are enough in a bare Debian 12: installs it there with pip, compiles the
# demonstration program and runs it on two ranks, without a network, in less than a minute.
#
#   bare-wheel.sh DIR WHEEL              ./dev wheel makes the WHEEL
#
# The bare system has what pip needs (python3-venv) and at first no compiler, when mpicc must say so. Needs root and
# debootstrap. DIR, outside the tree, keeps python/ (the bare system, made once) and run/ (the copy that was used last).
# shellcheck source-path=SCRIPTDIR source=bare-debian.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/bare-debian.sh"
[[ $# -eq 2 ]] || { sed -n '2,9s/^# \{0,1\}//p' "$0" && exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
wheel=$2

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

bare_system "$dir/python" ca-certificates python3-venv
echo "== a copy of the bare system, and $wheel"
fresh_copy "$dir/python" "$dir/run"
cp "$wheel" "$dir/run/root"
for package in hwloc libhwloc15 libudev1 gcc g++ mpich openmpi-bin; do
  inside "$dir/run" "dpkg-query -W -f '\${db:Status-Status}' $package 2>/dev/null" | grep -q '^installed' &&
    echo "== the bare system has $package"
done

echo "== without a C compiler"
install='python3 -m venv env && . env/bin/activate && pip install heddle_mpi-*.whl'
program='env/share/heddle/examples/demo.c'
said=$(inside "$dir/run" "cd /root && $install >/dev/null && mpicc $program -o demo 2>&1" --net) && fail "mpicc needs no compiler"
echo "$said"
[[ $said == *"there is no C compiler 'cc' here"*"apt-get install gcc"* ]] || fail "mpicc says nothing of the compiler"
inside "$dir/run" "cd /root && rm -rf env"
inside "$dir/run" "apt-get update -q && apt-get install -q -y --no-install-recommends gcc libc6-dev" >"$dir/apt.log" 2>&1

echo "== with one"
commands="$install && mpicc -O2 -pthread $program -o demo -lm && mpiexec -n 2 ./demo"
echo "$commands"
start=$(date +%s%N)
inside "$dir/run" "cd /root && $commands" --net |
  tee "$dir/demo.log"
took=$((($(date +%s%N) - start) / 1000000))
grep -q '^[1-9][0-9]* answers checked, 0 wrong' "$dir/demo.log" || fail "the demonstration"
inside "$dir/run" "cd /root && . env/bin/activate && mpiexec --bind-to core -n 2 ./demo --quick" --net >/dev/null ||
  fail "binding, which needs hwloc"
echo "== installed, compiled and run in $took ms"
((took < 60000)) || fail "that is more than a minute"
