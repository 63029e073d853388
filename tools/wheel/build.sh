#!/usr/bin/env bash
# Makes the wheel of a build tree, and has auditwheel say that it runs where its name says that it does.
#
#   build.sh BUILD OUT AUDITWHEEL      prints the path of the wheel, which lies in OUT beside its tree
#
# BUILD has the targets `product` and `heddle_no_udev`.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$1 out=$2 auditwheel=$3

die() {
  printf 'wheel: %s\n' "$*" >&2
  exit 1
}

rm -rf "$out"
mkdir -p "$out"
tree=$(cd "$out" && pwd)/tree
cmake --install "$build" --prefix "$tree" >/dev/null
cmake --install "$build" --prefix "$tree" --component wheel >/dev/null
wheel=$(python3 "$here/make.py" "$tree" "$out")

verdict=$("$auditwheel" show "$wheel" 2>&1) || die "auditwheel can't read $wheel: $verdict"
tag=$(basename "$wheel" .whl)
tag=${tag##*-}
[[ $(tr '\n' ' ' <<<"$verdict") == *"is consistent with the following platform tag: \"$tag\""* ]] ||
  die "auditwheel does not agree that this is a $tag: $verdict"
printf '%s\n' "$wheel"
