#!/usr/bin/env bash
# The proof that a bare Debian 12 and two commands are enough: makes one in a chroot, clones the committed tree into it
# and runs there, as a newcomer would, `./dev demo` and then `./dev test`.
#
#   fresh-debian.sh DIR [COMMAND...]     run COMMANDs instead, each a shell line in the cloned tree
#
# Needs root and debootstrap. DIR, outside the tree, keeps base/ (the bare system, made once) and run/ (the copy that was
# used last).
# shellcheck source-path=SCRIPTDIR source=bare-debian.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/bare-debian.sh"
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

[[ $# -ge 1 ]] || { sed -n '2,10s/^# \{0,1\}//p' "$0" && exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
(($#)) || set -- './dev demo' './dev test'

bare_system "$dir/base"
echo "== a copy of the bare system, and a clean clone of $(git -C "$tree" describe --always --dirty)"
fresh_copy "$dir/base" "$dir/run"
git clone -q --no-hardlinks "$tree" "$dir/run/root/heddle"

for line in "$@"; do
  echo "== $line"
  start=$SECONDS
  inside "$dir/run" "cd /root/heddle && $line"
  echo "== $line: passed in $((SECONDS - start)) s"
done
