#!/usr/bin/env python3
"""Kills one of several processes, or a node, at a random moment, seed after seed, and wants the others to go on.

Usage: campaign.py MPIEXEC PROGRAM [--seeds N] [--first SEED] [--ranks N] [--limit SECONDS] [--models NAME,...] [--nodes N] [--threads N]
                   [--hosts LIST] [--lose rank|node|cable]
A thousand: tests/mpi/ft/campaign.py build/release/src/launch/mpiexec/mpiexec build/release/tests/mpi/ft/ft_random --seeds 1000
On nodes of a cluster, two of which have ranks, and one of these is lost:
    tools/cluster 3 tests/mpi/ft/campaign.py $PWD/build/release/src/launch/mpiexec/mpiexec $PWD/build/release/tests/mpi/ft/ft_random --hosts node2:4,node3:4 --lose node
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time

# The victim's command to lose its node: all its processes end at once, or nothing goes in or out any more. A node that is pretended it loses itself.
LOSSES = {"node": "cluster node $(hostname) kill -9 -1", "cable": "cluster link $(hostname) down"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mpiexec")
    parser.add_argument("program")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=int(time.time()) % 1_000_000 * 1000)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--limit", type=int, default=30, help="seconds that a run may take")
    parser.add_argument("--models", default="auto", help="safety models, in turn")
    parser.add_argument("--nodes", type=int, default=1, help="that the ranks pretend to be on")
    parser.add_argument("--threads", type=int, default=1, help="ranks of a process, which die together")
    parser.add_argument("--hosts", default="", help="of a cluster, as mpiexec's -host has them, with as many ranks on each")
    parser.add_argument("--lose", default="rank", choices=("rank", *LOSSES), help="what is lost: a rank, or the node that it is on")
    arguments = parser.parse_args()
    if not 0 <= arguments.first <= 2**32 - arguments.seeds:
        parser.error("--first: seeds have 32 bits")
    hosts = [host.partition(":")[0] for host in arguments.hosts.split(",") if host]
    if not hosts and (arguments.lose == "cable" or (arguments.lose == "node" and arguments.nodes == 1)):
        parser.error(f"--lose {arguments.lose} needs --hosts{' or --nodes' if arguments.lose == 'node' else ''}")
    together = arguments.ranks // (len(hosts) or arguments.nodes) if arguments.lose != "rank" else arguments.threads

    models = arguments.models.split(",")
    print(f"seeds {arguments.first} to {arguments.first + arguments.seeds - 1}", flush=True)
    failed: list[int] = []
    longest = 0.0
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        command = [arguments.mpiexec, "--with-ft", "ulfm", "--timeout", str(arguments.limit), "-n", str(arguments.ranks),
                   *(["-host", arguments.hosts] if hosts else []),
                   *(["--ranks", f"threads:{arguments.threads}"] if arguments.threads > 1 else []),
                   arguments.program, str(seed), str(together)]
        settings = {"HEDDLE_MODEL": models[seed % len(models)], "HEDDLE_NODES": str(arguments.nodes)}
        if hosts and arguments.lose != "rank":
            settings["FT_DEATH"] = LOSSES[arguments.lose]
        since = time.monotonic()
        run = subprocess.run(command, capture_output=True, text=True, env=os.environ | settings)
        longest = max(longest, time.monotonic() - since)
        if arguments.lose == "cable":
            for host in hosts:
                subprocess.run(["cluster", "link", host, "up"], check=True)
        left = arguments.ranks - together
        told = f"seed {seed}: {left} of {arguments.ranks} go on" in run.stdout
        died = f"the job goes on with {left} rank" in run.stderr
        if run.returncode != 0 or not told or not died:
            failed.append(seed)
            print(f"{' '.join(command)} ({' '.join(f'{name}={value!r}' for name, value in settings.items())}): exit code {run.returncode}\n"
                  f"{run.stdout}{run.stderr}", flush=True)
    print(f"{arguments.seeds - len(failed)} of {arguments.seeds} runs survived; the longest took {longest:.2f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
