"""The command line of `heddle`."""

import argparse
import os
import sys

from . import info, places
from .bench import commands as bench
from .bench import more_commands as more_bench
from .errors import BadInput
from .simulate import commands as simulate


class Parser(argparse.ArgumentParser):
    """One line and exit code 2, no usage text above it."""

    def error(self, message):
        raise BadInput(message)


def make_parser() -> Parser:
    parser = Parser(prog="heddle", description="Heddle's command: describe this installation, and measure what an MPI does with threads.")
    parser.add_argument("-V", "--version", action="version", version=f"heddle (Heddle) {places.version()}",
                        help="print the version")
    sub = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    info.register(sub)
    more_bench.register(bench.register(sub))
    simulate.register(sub)
    return parser


def main(argv: list[str] | None = None) -> int:
    parser = make_parser()
    try:
        args = parser.parse_args(argv)
        if not args.command:
            parser.print_help()
            return 2
        return args.perform(args)
    except BadInput as wrong:
        print(f"heddle: {wrong}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("heddle: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
