# shellcheck shell=bash
# Sourced by what proves something in a bare Debian 12. Needs root and debootstrap. Proxies and a private certificate bundle
# (SSL_CERT_FILE) of this machine's environment are handed on; nothing else is. Mounts and processes end with a command.
environment=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8)

# bare_system SYSTEM PACKAGE...: makes the folder SYSTEM, once.
bare_system() {
  local system=$1
  shift
  [[ -e $system/etc/debian_version ]] && return 0
  local include=$*
  rm -rf "$system.part"
  debootstrap --variant=minbase ${include:+--include="${include// /,}"} bookworm "$system.part" >"$system.log" 2>&1
  mv "$system.part" "$system"
}

# fresh_copy SYSTEM RUN: RUN becomes a copy of SYSTEM that can reach what this machine reaches.
fresh_copy() {
  local name
  rm -rf "$2"
  cp -a "$1" "$2"
  for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY PIP_INDEX_URL; do
    [[ -n ${!name:-} ]] && environment+=("$name=${!name}")
  done
  if [[ -r ${SSL_CERT_FILE:-} ]]; then
    cp "$SSL_CERT_FILE" "$2/root/certificates.crt"
    environment+=(PIP_CERT=/root/certificates.crt)
  fi
  cp /etc/resolv.conf "$2/etc/resolv.conf"
}

# inside RUN LINE [OPTION OF UNSHARE...]: a shell line in the system.
inside() {
  local run=$1 line=$2
  shift 2
  # shellcheck disable=SC2016 # for the inner shell
  unshare --mount --pid --fork --kill-child "$@" sh -c '
    mount -t proc proc "$0/proc" && mount -t sysfs -o ro sysfs "$0/sys" && mount -t devpts devpts "$0/dev/pts" &&
    mount -t tmpfs tmpfs "$0/dev/shm" &&
    exec chroot "$0" "$@"' "$run" env -i "${environment[@]}" bash -c "$line" </dev/null
}
