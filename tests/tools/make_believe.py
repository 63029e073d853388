"""A make-believe MPI: a compiler that writes shell scripts, and a launcher that runs one copy of them.

The environment variable selects the action of a "compiled" program: BEHAVIOUR_<label>: ok (the default), hang, wrong,
crash, mute, slow, absent, or ok and more: counts tells its performance variables, switches how often it left its core.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
HEDDLE = TREE / "tools" / "heddle"
sys.path.insert(0, str(TREE / "tools"))

MPICC = """#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in
    -o) out=$2; shift ;;
    *.c) case $1 in */common/*) ;; *) name=$(basename "$1" .c) ;; esac ;;
  esac
  shift
done
cat > "$out" <<END
#!/bin/sh
name=$name
END
cat >> "$out" <<'END'
echo "$LABEL $name $*" >> "$JOURNAL"
eval behaviour=\\$BEHAVIOUR_$LABEL
case ${behaviour:-ok} in
  hang) sleep 1000 & sleep 1000 ;;
  wrong) echo "$name: wrong answer on rank 1: ping: expected 1, found 2" >&2; exit 3 ;;
  crash) echo "Segmentation fault" >&2; exit 139 ;;
  mute) exit 0 ;;
  slow) sleep 0.4 ;;
  counts) told=",\\"variables\\":{\\"vni_messages_received\\":10,\\"vni_polls\\":25,\\"vni_time_poll\\":3,\\"vni_time_wait\\":1}" ;;
  switches) told=",\\"switches\\":{\\"blocked\\":1.5,\\"other\\":30.25},\\"computing\\":97.5" ;;
  absent) echo "{\\"bench\\":\\"$name\\",\\"mpi\\":\\"Heddle\\",\\"absent\\":\\"no such core\\"}"; exit 0 ;;
esac
echo "noise from the launcher"
mpi="Pretend $LABEL"
case $LABEL in a) v=2.0 ;; b) v=4.0 ;; heddle) v=1.0; mpi="Heddle, pretended" ;; esac
echo "{\\"bench\\":\\"$name\\",\\"mpi\\":\\"$mpi\\",\\"checked\\":7,\\"value\\":$v,\\"samples\\":[$v,$v]$told}"
END
chmod +x "$out"
"""

MPIEXEC = """#!/bin/sh
LABEL=$(basename "$(dirname "$(dirname "$0")")")
export LABEL
shift 2
exec "$@"
"""


class Case(unittest.TestCase):
    """A scratch folder with the pretended libraries a, b and heddle, and the command run in it."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="heddle-tools-")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.journal = self.folder / "journal"
        for label in ("a", "b", "heddle"):
            for name, body in (("mpicc", MPICC), ("mpiexec", MPIEXEC)):
                file = self.folder / label / "bin" / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(body)
                file.chmod(0o755)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "XDG_CACHE_HOME": str(self.folder / "cache"),
                    "JOURNAL": str(self.journal), "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8"}
        self.ours = ["--heddle", str(self.folder / "heddle"), "--against", "none", "--out", str(self.folder / "out"),
                     "--patience", "1"]
        self.pretended = ["--no-heddle", "--mpi", f"a={self.folder}/a", "--mpi", f"b={self.folder}/b", "--out",
                          str(self.folder / "out"), "--patience", "1"]

    def start(self, *args, **env):
        return subprocess.Popen([sys.executable, str(HEDDLE), *args], env=self.env | env, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def heddle(self, *args, **env):
        job = self.start(*args, **env)
        out, err = job.communicate(timeout=200)
        return job.returncode, out, err

    def only(self, pattern):
        found = sorted((self.folder / "out").glob(pattern))
        self.assertEqual(len(found), 1, found)
        return found[0]
