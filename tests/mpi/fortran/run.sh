#!/usr/bin/env bash
# run.sh PREFIX PROGRAM: compiles it for both widths of INTEGER and runs it; it says "right".
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for width in "" -i8; do
  "$1/bin/mpifort" ${width:+"$width"} -J "$work" "$2" -o "$work/program"
  for ranks in processes threads; do
    said=$("$1/bin/mpiexec" --timeout 60 --ranks "$ranks" -n 2 "$work/program")
    [[ $said == *": right" ]] || { printf 'FAILED: %s %s: %s\n' "$width" "$ranks" "$said" >&2; exit 1; }
  done
done
