"""Delay, jitter, loss and rates take effect. Only lower bounds on times: a busy machine makes everything later."""

import os
import re

import clusters

STREAM = clusters.TREE / "tests" / "cluster" / "stream.py"


def fastest(ping: str) -> float:
    """The shortest round trip that ping has seen, in milliseconds."""
    return float(re.search(r"= ([0-9.]+)/", ping)[1])


class Conditions(clusters.Case):
    def test_delay(self):
        for delay, milliseconds in (("20us", 0.02), ("3ms", 3.0)):
            said = self.succeed("--delay", delay, "2", "ping", "-q", "-c", "20", "-i", "0.01", "node2")
            self.assertGreaterEqual(fastest(said), 2 * milliseconds, said)
            self.assertIn(" 20 received", said)

    def test_jitter_comes_on_top(self):
        said = self.succeed("--delay", "1ms", "--jitter", "10ms", "2", "ping", "-q", "-c", "30", "-i", "0.01", "node2")
        self.assertGreaterEqual(fastest(said), 2.0, said)
        self.assertGreaterEqual(float(re.search(r"= [0-9.]+/[0-9.]+/([0-9.]+)/", said)[1]), 5.0, said)

    def test_loss(self):
        # Known hardware addresses, so that the first lost question for one does not hold up all.
        said = self.script("--loss", "20%", "2", text="""
            ip neigh replace 10.77.0.2 lladdr $(cluster node 2 cat /sys/class/net/eth0/address) nud permanent dev eth0
            address=$(cat /sys/class/net/eth0/address)
            cluster node 2 ip neigh replace 10.77.0.1 lladdr $address nud permanent dev eth0
            ping -q -c 80 -i 0.01 -W 1 node2""")
        received = int(re.search(r"(\d+) received", said)[1])
        self.assertTrue(0 < received < 80, said)

    def test_what_is_lost_is_sent_again(self):
        said = self.script("--loss", "1%", "2", text=f"""
            cluster node 2 {STREAM} receive 4000000 &
            {STREAM} send node2 4000000
            wait""")
        self.assertIn("received 4000000", said)

    def test_rate(self):
        # A quarter of a second at 100 Mbit/s, less what the bucket lets through at once.
        for more in ((), ("--delay", "50us")):
            said = self.script("--rate", "100mbit", *more, "2", text=f"""
                cluster node 2 {STREAM} receive 3125000 &
                {STREAM} send node2 3125000
                wait""")
            self.assertGreaterEqual(float(re.search(r"in ([0-9.]+) s", said)[1]), 0.22, said)

    def test_a_rate_of_each_rail(self):
        said = self.succeed("--rails", "2", "--rate", "100mbit,1gbit", "2", "cluster", "node", "2", "tc", "qdisc", "show")
        for device, rate in (("eth0", "100Mbit"), ("eth1", "1Gbit")):
            self.assertRegex(said, f"tbf .* dev {device} .*rate {rate} ")

    def test_other_rails_too(self):
        said = self.succeed("--delay", "2ms", "--rails", "2", "2", "ping", "-q", "-c", "3", "-i", "0.01", "node2-2")
        self.assertGreaterEqual(fastest(said), 4.0, said)

    def test_cores(self):
        self.assertEqual(self.succeed("--cores", "1", "2", "nproc").split(), ["1"])
        ours = set(os.sched_getaffinity(0))
        if len(ours) > 1:
            there = [self.succeed("--cores", "1", "2", "cluster", "node", str(node), "sh", "-c", "taskset -cp $$") for node in (1, 2)]
            self.assertEqual(len({said.split()[-1] for said in there}), 2, there)


if __name__ == "__main__":
    clusters.main(options=("--delay", "1ms"))
