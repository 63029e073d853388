#!/usr/bin/env bash
# The installed tree is small, and has the licence, manual pages and completion; debug information is a component of its own, and found by those who need it.
# shellcheck source-path=SCRIPTDIR source=common.sh
build=$3
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

for file in licenses/heddle/LICENSE man/man1/{mpiexec,mpirun,mpicc,mpicxx,heddle}.1 bash-completion/completions/mpiexec \
  zsh/site-functions/_heddle fish/vendor_completions.d/mpicc.fish; do
  [[ -s $prefix/share/$file ]] || fail "$file is not installed"
done
cmake --install "$build" --prefix "$PWD/tree" >/dev/null
binaries=()
while read -r file; do
  if readelf -h "$file" &>/dev/null; then binaries+=("$file"); fi
done < <(find tree -type f)
((${#binaries[@]} >= 3)) || fail "programs and libraries: ${binaries[*]}"
for file in "${binaries[@]}"; do
  readelf -S "$file" | contains '\.debug_info\|\.symtab' && fail "$file is not stripped"
done
size=$(du -sm tree | cut -f1)
((size < 16)) || fail "the tree has $size MiB"

# A function of the library, the stripped one, is told with its file once the component is there, and not before.
library=tree/lib/libmpi_abi.so.1
address=$(nm -D "$library" | sed -n 's/^\([0-9a-f]*\) [TW] MPI_Comm_dup$/\1/p')
[[ -n $address ]] || fail "MPI_Comm_dup is not exported"
line() { addr2line -e "$library" "$1"; }
expect "without debug information" "??:0" "$(line "$address" | sed 's/?$/0/')"
cmake --install "$build" --prefix "$PWD/tree" --component debug >/dev/null
line "$address" | contains '\.cpp:[0-9]' || fail "with debug information: $(line "$address")"
for file in "${binaries[@]}"; do
  apart=$(dirname "$file")/.debug/$(basename "$file").debug
  build_id() { readelf -n "$1" 2>/dev/null | sed -n 's/.*Build ID: //p'; }
  expect "build id of $apart" "$(build_id "$file")" "$(build_id "$apart")"
  [[ -n $(build_id "$file") ]] || fail "$file has no build id"
done
echo passed
