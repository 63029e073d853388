#!/usr/bin/env bash
# docs/guides/containers.md: jobs in containers of podman, as root with the engine's own settings, and as another user with next to nothing.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
demo=$here/../../examples/demo.c

# The machine's own file system with an overlay is the image, so that none is fetched.
container() {
  podman --runtime runc --cgroup-manager=cgroupfs run --rm --network=none --ulimit nofile=1024:1024 --ulimit nproc=2048:2048 \
    --volume "$prefix:$prefix:ro" --volume "$PWD:$PWD" --workdir "$PWD" "$@"
}
if ! { command -v podman && command -v runc && container --rootfs /:O true; } >/dev/null; then
  echo "no container can be made (podman and runc, as root)"
  exit 77
fi

"$prefix/bin/mpicc" -O2 -pthread "$demo" -o demo -lm
cat >no_vm.json <<'JSON'
{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
  {"names": ["process_vm_readv", "process_vm_writev", "ptrace", "io_uring_setup"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1}]}
JSON

# runs WHAT CONTAINER-OPTIONS -- MPIEXEC-OPTIONS
runs() {
  local what=$1 options=()
  shift
  while [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  container "${options[@]}" --rootfs /:O "$prefix/bin/mpiexec" -timeout 60 -n 2 "${@:2}" ./demo --quick >printed 2>&1 || {
    cat printed
    fail "$what"
  }
  contains ' answers checked, 0 wrong' <printed || fail "$what: $(cat printed)"
}
runs "processes" --
runs "threads" -- --ranks threads
runs "a shared heap" -- -shared-heap
least=(--cap-drop all --user 65534:65534 --security-opt no-new-privileges --shm-size 64k --memory 512m --cpus 1)
runs "few rights" "${least[@]}" --
runs "few rights, threads" "${least[@]}" -- --ranks threads
runs "no copies through the kernel" --security-opt "seccomp=$PWD/no_vm.json" --
expect "usable cores" "mpiexec: rank 0 is not bound (1 usable cores for all ranks)" \
  "$(container --cpus 1 --rootfs /:O "$prefix/bin/mpiexec" --report-bindings true 2>&1)"
echo passed
