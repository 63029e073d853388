#!/usr/bin/env bash
# docs/guides/languages/go.md: a Go program calls MPI by cgo.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
command -v go >/dev/null || { echo "no go in PATH"; exit 77; }

cp "$here"/go/* .
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig CGO_LDFLAGS_ALLOW='-Wl,.*' GOFLAGS=-mod=mod GOTOOLCHAIN=local
go build -o hello .
expect "two ranks" $'rank 0\nrank 1' "$("$prefix/bin/mpiexec" -n 2 ./hello | sort)"
echo passed
