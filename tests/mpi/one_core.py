#!/usr/bin/env python3
"""Runs a command on one of the cores that this process may use: there two ranks are more than there are cores.

Usage: one_core.py COMMAND [ARGUMENT...]
"""

import os
import sys

if len(sys.argv) < 2:
    sys.exit(__doc__)
cores = sorted(os.sched_getaffinity(0))
os.sched_setaffinity(0, {cores[os.getpid() % len(cores)]})
os.execvp(sys.argv[1], sys.argv[1:])
