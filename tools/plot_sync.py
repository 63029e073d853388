#!/usr/bin/env python3
"""Plots what sync_bench measured: plot_sync.py RESULTS.csv PLOT.svg

Two panels a critical section, threads pinned and left to the scheduler: throughput over threads, a line an algorithm,
logarithmic both ways. Needs nothing but Python.
"""
import csv
import math
import sys

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 460, 300, 60, 34, 130, 40
COLOURS = ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf",
           "#393b79", "#637939", "#8c6d31", "#843c39", "#7b4173", "#3182bd"]


def panel(rows, title, x0, y0, colours):
    """SVG elements of one chart; rows are (name, threads, ops)."""
    out = [f'<g transform="translate({x0},{y0})">', f'<text x="{LEFT}" y="18" font-weight="bold">{title}</text>']
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    top = math.ceil(math.log10(max(r[2] for r in rows)))
    low = math.floor(math.log10(max(1, min(r[2] for r in rows))))

    def x(threads):
        return LEFT + width * math.log2(threads) / 6

    def y(ops):
        return TOP + height * (top - math.log10(max(1, ops))) / max(1, top - low)

    for power in range(low, top + 1):
        out.append(f'<line x1="{LEFT}" x2="{LEFT + width}" y1="{y(10 ** power):.1f}" y2="{y(10 ** power):.1f}" '
                   f'stroke="#ddd"/><text x="{LEFT - 6}" y="{y(10 ** power) + 4:.1f}" text-anchor="end">'
                   f'1e{power}</text>')
    for threads in (1, 2, 4, 8, 16, 32, 64):
        out.append(f'<text x="{x(threads):.1f}" y="{TOP + height + 16}" text-anchor="middle">{threads}</text>')
    out.append(f'<text x="{LEFT + width / 2}" y="{TOP + height + 32}" text-anchor="middle">threads</text>')
    names = list(dict.fromkeys(r[0] for r in rows))
    for name in names:
        line = sorted((t, ops) for n, t, ops in rows if n == name)
        path = " ".join(f"{x(t):.1f},{y(ops):.1f}" for t, ops in line)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colours[name]}" stroke-width="1.6"/>')
    ends = sorted((y(max((t, ops) for n, t, ops in rows if n == name)[1]), name) for name in names)
    last = -100.0
    for at, name in ends:
        last = max(at, last + 12)
        out.append(f'<text x="{LEFT + width + 8}" y="{last + 4:.1f}" fill="{colours[name]}">{name}</text>')
    return out + ["</g>"]


def main():
    with open(sys.argv[1], newline="") as file:
        table = [r for r in csv.DictReader(l for l in file if not l.startswith("#"))]
    charts = []
    for kind in ("lock", "combining", "queue"):
        rows = [r for r in table if r["kind"] == kind]
        for section in dict.fromkeys((r["work_ns"], r["lines"]) for r in rows):
            for pinned, where in (("1", "pinned"), ("0", "free")):
                points = [(r["name"], int(r["threads"]), float(r["ops"])) for r in rows
                          if (r["work_ns"], r["lines"]) == section and r["pinned"] == pinned]
                whole = {n for n in {p[0] for p in points} if sum(p[0] == n for p in points) > 2}
                points = [p for p in points if p[0] in whole]
                if points:
                    charts.append((f"{kind}: {section[0]} ns, {section[1]} lines, {where}; operations/s", points))
    names = list(dict.fromkeys(r["name"] for r in table))
    colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}
    body = []
    for i, (title, points) in enumerate(charts):
        body += panel(points, title, (i % 2) * WIDTH, (i // 2) * HEIGHT, colours)
    rows = (len(charts) + 1) // 2
    with open(sys.argv[2], "w") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * WIDTH}" height="{rows * HEIGHT}" '
                   f'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>')
        file.write("\n".join(body) + "</svg>\n")


if __name__ == "__main__":
    main()
