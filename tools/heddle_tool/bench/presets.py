"""`heddle bench presets`: the message rate between nodes under every safety model, over each network: a table, and its page in docs."""

from . import nodes, table
from .campaign import Campaign, Cell
from .mpis import MODELS, Mpi
from .stats import number
from .suite import Point, benchmark

PAGE = "docs/results/presets-between-nodes.md"
SIZE = 8


def points(ranks: int, threads: list[int]) -> list[Point]:
    return [Point(benchmark("message-rate"), ranks, t, SIZE) for t in threads]


def placed(found: list[Mpi], cluster: nodes.Cluster, llns: list[str]) -> list[Mpi]:
    """Heddle over each network, the reference MPIs over their own."""
    ours = [nodes.OnNodes(m, cluster, lln) for m in found if not m.peer for lln in llns]
    return ours + [nodes.OnNodes(m, cluster) for m in found if m.peer]


def label(model: str, lln: str) -> str:
    return f"heddle:{model}/{lln}"


def networks(campaign: Campaign) -> list[str]:
    return campaign.nodes["lln"].split(",")


def in_order(campaign: Campaign) -> list[str]:
    """The models, by their rate in the last cell over the first network; those without one last."""
    def rate(model: str) -> float:
        summary = campaign.cells[-1].summary(label(model, networks(campaign)[0])) if campaign.cells else None
        return summary.median if summary else 0.0

    return sorted(MODELS, key=rate, reverse=True)


def shown(cell: Cell, name: str, peers: list[str]) -> str:
    """The rate, and how many times that of the best reference MPI it is."""
    ratio = cell.ratio(name, peers) if peers else None
    return table.value(cell, name) + (f", x{number(ratio.median)}" if ratio else "")


def rows(campaign: Campaign) -> tuple[list[str], list[list[str]]]:
    columns = [(cell, lln) for cell in campaign.cells for lln in networks(campaign)]
    head = ["model", *(f"{lln}, {cell.point.threads} thread{'s' if cell.point.threads > 1 else ''}" for cell, lln in columns)]
    return head, [[f"`{model}`", *(shown(cell, label(model, lln), campaign.peers) for cell, lln in columns)]
                  for model in in_order(campaign)]


def peer_rows(campaign: Campaign) -> tuple[list[str], list[list[str]]]:
    head = ["reference", *(f"{cell.point.threads} thread{'s' if cell.point.threads > 1 else ''}" for cell in campaign.cells)]
    return head, [[peer, *(table.value(cell, peer) for cell in campaign.cells)] for peer in campaign.peers]


def report(campaign: Campaign, render=table.text) -> str:
    """Millions of messages a second, and what went wrong."""
    parts = [render(*rows(campaign))]
    if campaign.peers:
        parts.append(render(*peer_rows(campaign)))
    return "\n\n".join([*parts, *table.troubles(campaign), *table.footnotes(campaign)])


TEXT = """# Every safety model between nodes

`{command}`, {started}, commit {commit}, {machine}. Millions of messages of {size} bytes a second from each rank's threads to their twins in windows of 64, medians ± half the
range of {runs} interleaved runs{against}. `heddle bench presets --record` writes this page, and with `--from JSON` it does so without measuring. Each node
has as many cores as the line above says, so models that need a core for each thread are slow here, as they are [on one node](safety-models.md).

{table}
"""


def page(campaign: Campaign) -> str:
    against = "; x: times the best reference MPI of the same run" if campaign.peers else ""
    return TEXT.format(command=campaign.command, started=campaign.started, commit=campaign.commit, machine=table.machine_line(campaign),
                       size=SIZE, runs=table.most_runs(campaign), against=against, table=report(campaign, table.markdown))
