"""Slurm in a cluster: munged beside the nodes, slurmctld on node 1, a slurmd on each node. Spools and logs are in memory."""

import os
import shutil
import subprocess
import time
from pathlib import Path

from . import kernel, network

STATE = Path("/run/cluster/slurm")
LOGS = Path("/run/cluster/log")
CONFIGURED = Path("/etc/slurm")  # where Debian's Slurm looks
DAEMONS = ("munged", "slurmctld", "slurmd")
SLOTS = 64  # cores that each node is said to have, so that jobs may have more ranks than this machine has
LIMIT = 30.0  # seconds until all nodes are idle

# No control groups: they are the machine's, and what a daemon makes there would stay.
CONFIGURATION = """\
ClusterName=heddle
SlurmctldHost=node1({controller})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=0
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
KillWait=5
StateSaveLocation={state}/state
SlurmdSpoolDir={state}/spool.%n
SlurmctldPidFile={state}/slurmctld.pid
SlurmdPidFile={state}/slurmd.%n.pid
SlurmdParameters=config_overrides
"""


def prepare(nodes: int) -> None:
    """Configuration and key, before the nodes are made."""
    missing = [daemon for daemon in DAEMONS if not shutil.which(daemon)]
    if missing or not CONFIGURED.is_dir():
        raise kernel.NotHere(f"Slurm is not installed ({', '.join(missing) or CONFIGURED} is missing); Debian has it as "
                             "slurm-wlm and munge")
    configuration = STATE / "configuration"
    for folder in (configuration, STATE / "state"):
        folder.mkdir(parents=True)
    lines = [CONFIGURATION.format(controller=network.address(1, 1), state=STATE)]
    for number in range(1, nodes + 1):
        lines.append(f"NodeName=node{number} NodeAddr={network.address(number, 1)} NodeHostname=node{number} Boards=1 "
                     f"Sockets=1 CoresPerSocket={SLOTS} ThreadsPerCore=1 State=UNKNOWN\n")
    lines.append(f"PartitionName=all Nodes=node[1-{nodes}] Default=YES OverSubscribe=EXCLUSIVE MaxTime=INFINITE State=UP\n")
    (configuration / "slurm.conf").write_text("".join(lines))
    (configuration / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    kernel.bind(str(configuration), str(CONFIGURED))
    key = STATE / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(128))
    Path("/run/munge").mkdir(mode=0o755)


def start(nodes: int, service, node_1: int) -> None:
    """`service(node, argv, log)` starts a daemon; `node_1` is the pid of node 1."""
    service(0, ["munged", "--foreground", "--force", f"--key-file={STATE}/munge.key", f"--log-file={LOGS}/munged.log",
                f"--seed-file={STATE}/munged.seed", f"--pid-file={STATE}/munged.pid"], LOGS / "munged.log")
    limit = time.monotonic() + LIMIT
    wait(Path("/run/munge/munge.socket.2").exists, limit, "munged")
    service(1, ["slurmctld", "-D"], LOGS / "slurmctld.log")
    for number in range(1, nodes + 1):
        service(number, ["slurmd", "-D", "-N", f"node{number}"], LOGS / f"slurmd.{number}.log")

    def idle() -> bool:
        asked = subprocess.run(["nsenter", "-t", str(node_1), "-n", "sinfo", "-h", "-N", "-o", "%T"], capture_output=True,
                               text=True)
        return asked.stdout.split() == ["idle"] * nodes
    wait(idle, limit, "slurmctld", *(f"slurmd.{number}" for number in range(1, nodes + 1)))


def wait(ready, limit: float, *daemons: str) -> None:
    while not ready():
        if time.monotonic() > limit:
            logs = [(LOGS / f"{daemon}.log") for daemon in daemons]
            last = [line for log in logs if log.exists() for line in log.read_text().splitlines()[-3:]]
            raise OSError(f"Slurm did not start within {LIMIT:.0f} s: " + " | ".join(last))
        time.sleep(0.02)
