"""Wrong settings are refused when the job starts: once for a job, however many ranks it has, with the variable, its value, and the values that
exist. Variables that mpiexec sets for its ranks."""

import os
import re
import socket

import launcher
from launcher import MPI_PROGRAM, RANK, LauncherTest

KINDS = ("processes", "threads") if "BOOT_HOST" in os.environ else ("processes",)
NETWORKS = os.environ["START_NETWORKS"].split()  # that are built
INTERFACES = [name for _, name in socket.if_nameindex()]


def misspelled(name: str) -> str:
    """A device that is not there, and is near this one."""
    return next(other for other in (f"{name[:-1]}{c}" for c in "xyz789") if other not in INTERFACES)


class Start(LauncherTest):
    def refused(self, says: str, ranks: int = 4, **env: str) -> None:
        for kind in KINDS:
            for nodes in ({}, {"HEDDLE_NODES": "2"}) if "HEDDLE_NODES" not in env else ({},):
                with self.subTest(f"{kind} {env | nodes}"):
                    result = self.run_job("--ranks", kind, "--timeout", "60", "-n", str(ranks), MPI_PROGRAM, "well", env=env | nodes)
                    self.assertNotEqual(result.code, 0)
                    self.assertNotEqual(result.code, 124)
                    self.assertEqual(result.out, "")
                    self.assertEqual(len(re.findall(says, result.err)), 1, result.err)
                    self.assertLessEqual(result.err.count("MPI_Init failed"), 1, result.err)
                    self.assertLessEqual(result.err.count("rank "), 2, result.err)

    def test_settings(self):
        for name, value in (("HEDDLE_MODEL", "nonsense"), ("HEDDLE_WAIT", "nonsense"), ("HEDDLE_PROGRESS", "nonsense"), ("HEDDLE_THREADS", "nonsense"),
                            ("HEDDLE_BACKTRACE", "7"), ("HEDDLE_INITIAL_ERRHANDLER", "nonsense"), ("HEDDLE_REPORT", "/no/such/folder/x")):
            self.refused(rf"{value} for {name}|{name}=?.*{value}", **{name: value})

    # ---- networks

    def test_network(self):
        self.refused(r"HEDDLE_LLN=ib: unknown network\. Known are loopback, ucx, ofi\n", HEDDLE_LLN="ib")
        self.refused(r"HEDDLE_LLN=ucxx: unknown network\. Known are loopback, ucx, ofi; did you mean ucx\?\n", HEDDLE_LLN="ucxx")
        self.refused(r"HEDDLE_LLN=/no/lln.so: no such file\n", HEDDLE_LLN="/no/lln.so")

    def test_rails(self):
        name = misspelled(INTERFACES[-1])
        for value in ("9", "0", "lo,,lo", "lo,lo,lo,lo,lo"):
            self.refused(f"HEDDLE_RAILS={value} is neither a number of rails from 1 to 4 nor a list of as many devices", HEDDLE_RAILS=value)
        self.refused(f"HEDDLE_RAILS={name}: this machine has no network device {name}, but .*; did you mean {INTERFACES[-1]}\\?", HEDDLE_RAILS=name)

    def test_nodes(self):
        self.refused("invalid value 3 for HEDDLE_NODES: this job has 2 ranks", ranks=2, HEDDLE_NODES="3")
        self.assertEqual(self.run_job("-n", "1", MPI_PROGRAM, "well", env={"HEDDLE_NODES": "3"}).code, 0)

    def test_devices_of_libraries(self):
        name = misspelled(INTERFACES[-1])
        for network, variable in (("ucx", "UCX_NET_DEVICES"), ("ofi", "FI_NET_IFACE"), ("ofi", "FI_TCP_IFACE"), ("ofi", "FI_SOCKETS_IFACE"),
                                  ("ofi", "FI_UDP_IFACE")):
            if network in NETWORKS:
                self.refused(f"{variable}={name}: this machine has no network device {name}, but .*; did you mean {INTERFACES[-1]}\\?",
                             HEDDLE_NODES="2", HEDDLE_LLN=network, **{variable: name})
        # Without use on one node, where other machines may have them.
        self.assertEqual(self.run_job("-n", "2", MPI_PROGRAM, "well", env={"UCX_NET_DEVICES": name, "HEDDLE_NODES": "1"}).code, 0)

    # ---- a rank that cannot join

    def test_joining(self):
        for set_wrongly, says in (("HEDDLE_JOB_FD=x", "do not name a job"), ("HEDDLE_LAUNCHER=1", "does not hold that job"), ("HEDDLE_RANK=9", "but the job has 4 ranks")):
            result = self.run_job("--timeout", "60", "-n", "4", "sh", "-c", f"{set_wrongly} exec {MPI_PROGRAM} well")
            self.assertNotEqual(result.code, 0)
            self.assertEqual(result.err.count(says), 1, result.err)

    def test_joining_without_descriptors(self):
        """Ranks that cannot agree in who says it all say it: no reason is lost."""
        preload = f"LD_PRELOAD={os.environ['START_NO_SOCKETS']}:$LD_PRELOAD"
        result = self.run_job("--timeout", "60", "-n", "4", "sh", "-c", f"HEDDLE_JOB_FD=x {preload} exec {MPI_PROGRAM} well")
        self.assertNotEqual(result.code, 0)
        self.assertIn("do not name a job", result.err)

    # ---- OpenMP

    def threads(self, *options: str, ranks: int, **env: str) -> list[str]:
        result = self.run_job(*options, "-n", str(ranks), "sh", "-c", "echo ${OMP_NUM_THREADS-unset}", env=env)
        self.assertEqual(result.code, 0, result.err)
        return result.lines

    def test_openmp(self):
        cores = int(self.run_job("-n", "1", RANK, "join", "cores", "leave").out.split()[-1])
        os.environ.pop("OMP_NUM_THREADS", None)
        for ranks in (2, 3, cores + 1):
            self.assertEqual(self.threads("--bind-to", "none", ranks=ranks), [str(max(1, cores // ranks))] * ranks)
            self.assertEqual(self.threads("--bind-to", "none", ranks=ranks, OMP_NUM_THREADS="7"), ["7"] * ranks)
            self.assertEqual(self.threads("--bind-to", "none", "-x", "OMP_NUM_THREADS=6", ranks=ranks), ["6"] * ranks)
        self.assertEqual(self.threads("--bind-to", "none", ranks=1), ["unset"])
        if len(os.sched_getaffinity(0)) >= 2 and cores >= 2:
            self.assertEqual(self.threads("--bind-to", "core", ranks=2), ["unset"] * 2)


if __name__ == "__main__":
    launcher.main()
