#!/usr/bin/env bash
# The proof that a bare Debian 12 and two commands are enough: makes one in a chroot, clones the committed tree into it
# and runs there, as a newcomer would, `./dev demo` and then `./dev test`.
#
#   fresh-debian.sh DIR [COMMAND...]     run COMMANDs instead, each a shell line in the cloned tree
#
# Needs root and debootstrap. DIR, outside the tree, keeps base/ (the bare system, made once) and run/ (the copy that was
# used last). Proxies and a private certificate bundle (SSL_CERT_FILE) of this machine's environment are handed on;
# nothing else is. Mounts and processes end with the run.
set -euo pipefail
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

[[ $# -ge 1 ]] || { sed -n '2,10s/^# \{0,1\}//p' "$0" && exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
(($#)) || set -- './dev demo' './dev test'

if [[ ! -e $dir/base/etc/debian_version ]]; then
  debootstrap --variant=minbase bookworm "$dir/base.part" >"$dir/debootstrap.log" 2>&1
  mv "$dir/base.part" "$dir/base"
fi

echo "== a copy of the bare system, and a clean clone of $(git -C "$tree" describe --always --dirty)"
rm -rf "$dir/run"
cp -a "$dir/base" "$dir/run"
git clone -q --no-hardlinks "$tree" "$dir/run/root/heddle"

environment=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8)
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY PIP_INDEX_URL; do
  [[ -n ${!name:-} ]] && environment+=("$name=${!name}")
done
if [[ -r ${SSL_CERT_FILE:-} ]]; then
  cp "$SSL_CERT_FILE" "$dir/run/root/certificates.crt"
  environment+=(PIP_CERT=/root/certificates.crt)
fi
cp /etc/resolv.conf "$dir/run/etc/resolv.conf"

for line in "$@"; do
  echo "== $line"
  start=$SECONDS
  # shellcheck disable=SC2016 # for the inner shell
  unshare --mount --pid --fork --kill-child sh -c '
    mount -t proc proc "$0/proc" && mount -t sysfs -o ro sysfs "$0/sys" && mount -t devpts devpts "$0/dev/pts" &&
    mount -t tmpfs tmpfs "$0/dev/shm" &&
    exec chroot "$0" "$@"' "$dir/run" env -i "${environment[@]}" bash -c "cd /root/heddle && $line" </dev/null
  echo "== $line: passed in $((SECONDS - start)) s"
done
