"""Cables are pulled and plugged in, nodes are killed."""

import clusters

REACHES = "ping -q -c 1 -w 20"  # asks until there is an answer: a busy machine may owe the first one for a while
MISSES = "ping -q -c 1 -W 1"


class Operations(clusters.Case):
    def test_a_cable_is_pulled_and_plugged_in(self):
        for options in ((), ("--delay", "100us")):
            said = self.script(*options, "3", text=f"""
                {REACHES} node2
                cluster link 2 down
                {MISSES} node2 && echo REACHED
                cluster node 2 {MISSES} node3 && echo REACHED
                cluster node 2 cat /sys/class/net/eth0/carrier
                {REACHES} node3
                cluster link node2 up
                {REACHES} node2
                echo END""")
            self.assertNotIn("REACHED", said)
            self.assertIn("END", said)

    def test_one_rail_of_two(self):
        for options in ((), ("--delay", "100us")):
            said = self.script(*options, "--rails", "2", "2", text=f"""
                cluster link 2 down 1
                {MISSES} node2 && echo REACHED
                {REACHES} node2-2
                cluster link 2 down 3 2>/dev/null && echo UNDERSTOOD
                echo END""")
            self.assertNotIn("REACHED", said)
            self.assertNotIn("UNDERSTOOD", said)
            self.assertIn("END", said)

    def test_a_node_is_killed(self):
        for options in ((), ("--delay", "100us")):
            said = self.script(*options, "3", text=f"""
                cluster node 2 sh -c 'echo > /run/cluster/blocked; exec sleep 600' 2>&1 && echo SURVIVED || echo "sleep: $?" &
                while ! test -e /run/cluster/blocked; do sleep 0.05; done
                cluster kill-node 2
                wait
                {MISSES} node2 && echo REACHED
                cluster node 2 true 2>&1 || echo "true: $?"
                {REACHES} node3
                cluster status""")
            self.assertNotIn("REACHED", said)
            self.assertNotIn("SURVIVED", said)
            self.assertIn("node 2 was lost\nsleep: 255", said)
            self.assertIn("node 2 has been killed\ntrue: 255", said)
            self.assertIn("alive: 1 3", said)

    def test_a_killed_node_whose_network_namespace_lives_on(self):
        """The kernel takes a namespace away late, and here never: node 1 holds a socket of node 2."""
        hold = """import os, socket
with socket.socket(socket.AF_UNIX) as door:
    door.bind("/run/cluster/door")
    door.listen()
    open("/run/cluster/open", "w").close()
    visitor, _ = door.accept()
    held = socket.recv_fds(visitor, 1, 1)
    open("/run/cluster/held", "w").close()
    input()"""
        give = """import socket
with socket.socket(socket.AF_UNIX) as door, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as given:
    door.connect("/run/cluster/door")
    socket.send_fds(door, [b"x"], [given.fileno()])"""
        for options in ((), ("--delay", "100us"), ("--rails", "2")):
            said = self.script(*options, "2", text=f"""
                mkfifo /run/cluster/end
                python3 -c '{hold}' < /run/cluster/end &
                exec 9> /run/cluster/end
                while ! test -e /run/cluster/open; do sleep 0.05; done
                cluster node 2 python3 -c '{give}'
                while ! test -e /run/cluster/held; do sleep 0.05; done
                {REACHES} node2
                cluster kill-node 2
                {MISSES} node2 && echo REACHED
                echo >&9
                wait
                echo END""")
            self.assertNotIn("REACHED", said)
            self.assertIn("END", said)

    def test_node_1_is_killed_with_its_command(self):
        done = clusters.cluster("2", "cluster", "kill-node", "1")
        self.assertEqual(done.returncode, 128 + 9)
        self.assertIn("was killed", done.stderr)

    def test_what_is_not_understood(self):
        said = self.script("2", text="""
            cluster node 3 true 2>&1 || echo $?
            cluster link 2 sideways 2>&1 || echo $?""")
        self.assertIn("there is no node 3", said)
        self.assertIn("not understood", said)

    def test_signals_reach_a_command_on_another_node(self):
        said = self.script("2", text="""
            cluster node 2 sh -c 'trap "echo got it; exit 4" TERM; echo ready >/run/cluster/ready; while :; do sleep 0.05; done' &
            while ! test -e /run/cluster/ready; do sleep 0.05; done
            kill -TERM $!
            wait $! || echo $?""")
        self.assertEqual(said.split(), ["got", "it", "4"])


if __name__ == "__main__":
    clusters.main()
