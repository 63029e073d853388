"""However a cluster ends, nothing is left of it."""

import os
import pty
import signal
import subprocess

import clusters

# Something that wants to stay: away from its parent, deaf to signals, on both nodes.
STUBBORN = """
cluster node 2 sh -c 'trap "" HUP INT TERM QUIT; setsid sleep 601 &'
(trap "" HUP INT TERM QUIT; setsid sleep 602 &)
mkdir -p /tmp/mounted && mount -t tmpfs tmpfs /tmp/mounted
echo up
"""
OPTIONS = ("--delay", "10us", "--rails", "2")


class Endings(clusters.Case):
    def begin(self, name: str, then: str, *options: str) -> tuple[subprocess.Popen, set[str]]:
        maker = clusters.start(*(options or OPTIONS), "--name", name, "2", "sh", "-c", STUBBORN + then, stdin=subprocess.PIPE,
                               start_new_session=True)
        self.assertEqual(maker.stdout.readline(), "up\n")
        inside = clusters.namespaces_below(maker.pid)
        self.assertGreaterEqual(len(inside), 15)  # five kinds, of the cluster and of two nodes
        self.assertTrue(clusters.left(inside, name))
        return maker, inside

    def end(self, maker: subprocess.Popen, inside: set[str], name: str, code: int) -> None:
        maker.communicate("\n", timeout=clusters.LIMIT)
        self.assertEqual(maker.returncode, code)
        self.assertEqual(clusters.soon_nothing_left(inside, name), [])

    def test_normal(self):
        self.end(*self.begin("end-normal", "read line"), "end-normal", 0)

    def test_failure(self):
        self.end(*self.begin("end-failure", "read line; exit 42"), "end-failure", 42)

    def test_crash(self):
        self.end(*self.begin("end-crash", "read line; kill -SEGV $$"), "end-crash", 128 + signal.SIGSEGV)

    def test_command_that_is_not_there(self):
        done = clusters.cluster("2", "/no/such/command")
        self.assertEqual(done.returncode, 127)
        self.assertIn("/no/such/command", done.stderr)

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            name = f"end-{number}"
            maker, inside = self.begin(name, "exec sleep 603")
            maker.send_signal(number)
            self.end(maker, inside, name, 128 + number)

    def test_keys_of_a_terminal(self):
        """The interrupt key ends the command; the stop key, which could not be undone, does nothing."""
        maker, terminal = pty.fork()
        if maker == 0:
            os.chdir(clusters.TREE)
            os.execv(clusters.COMMAND, [str(clusters.COMMAND), "--name", "end-keys", "2", "sh", "-c",
                                        "echo up; cluster node 2 sh -c 'echo there; exec sleep 608'"])
        said = b""
        while b"there" not in said:
            said += os.read(terminal, 4096)
        inside = clusters.namespaces_below(maker)
        os.write(terminal, b"\x1a\x03")
        _, status = os.waitpid(maker, 0)
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(status), 128 + signal.SIGINT)
        self.assertEqual(clusters.soon_nothing_left(inside, "end-keys"), [])

    def test_signal_that_the_command_does_not_heed(self):
        maker, inside = self.begin("end-deaf", "trap '' TERM; while :; do sleep 0.1; done")
        maker.send_signal(signal.SIGTERM)
        self.end(maker, inside, "end-deaf", 128 + signal.SIGTERM)

    def test_kill_of_the_maker(self):
        maker, inside = self.begin("end-kill", "exec sleep 604")
        maker.kill()
        self.end(maker, inside, "end-kill", -signal.SIGKILL)

    def test_kill_of_the_maker_while_it_makes(self):
        for tenths in range(8):
            maker = clusters.start("--name", "end-early", "4", "sleep", "605")
            try:
                maker.wait(0.05 * tenths)
            except subprocess.TimeoutExpired:
                pass
            inside = clusters.namespaces_below(maker.pid)
            maker.kill()
            maker.communicate(timeout=clusters.LIMIT)
            self.assertEqual(clusters.soon_nothing_left(inside, "end-early"), [])

    def test_kill_of_the_cluster_s_first_process(self):
        maker, inside = self.begin("end-init", "exec sleep 606")
        os.kill(clusters.children(maker.pid)[1], signal.SIGKILL)
        self.end(maker, inside, "end-init", 128 + signal.SIGKILL)

    def test_daemons(self):
        if clusters.cluster("--slurm", "1", "true").returncode == 77:
            self.skipTest("no Slurm")
        maker, inside = self.begin("end-slurm", "srun -N2 sleep 607", "--slurm")
        maker.kill()
        self.end(maker, inside, "end-slurm", -signal.SIGKILL)


if __name__ == "__main__":
    clusters.main(options=OPTIONS)
