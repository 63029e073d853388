"""Slurm in a cluster: munged beside the nodes, slurmctld on node 1, a slurmd on each node. Spools and logs are in memory."""


def prepare(nodes: int) -> None:
    pass


def start(nodes: int, service) -> None:
    pass
