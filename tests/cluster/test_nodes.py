"""Nodes have their own names, addresses, processes and memory, and see each other."""

import clusters


class Nodes(clusters.Case):
    def test_names_and_addresses(self):
        said = self.script("3", text="""
            for k in 1 2 3; do
              cluster node $k hostname
              cluster node $k cat /etc/hostname
              cluster node $k ip -4 -o address show dev eth0
            done""")
        for k in (1, 2, 3):
            self.assertEqual(said.split().count(f"node{k}"), 2, said)
            self.assertIn(f" 10.77.0.{k}/24 ", said)

    def test_all_reach_all(self):
        self.script("3", text="""
            for k in 1 2 3; do
              for to in node1 node2 node3 10.77.0.1; do cluster node $k ping -q -c 1 -W 5 $to; done
            done""")

    def test_rails(self):
        said = self.script("--rails", "2", "2", text="""
            ping -q -c 1 -W 5 node2
            ping -q -c 1 -W 5 -I eth1 node2-2
            ip -4 -o address show dev eth1""")
        self.assertIn(" 10.77.1.1/24 ", said)

    def test_own_memory_files_and_processes(self):
        said = self.script("2", text="""
            echo one >/tmp/file
            echo one >/dev/shm/file
            cluster node 2 ls -A /tmp /dev/shm
            for kind in ipc mnt net pid uts; do
              readlink /proc/self/ns/$kind
              cluster node 2 readlink /proc/self/ns/$kind
            done""")
        self.assertNotIn("file", said)
        spaces = [word for word in said.split() if "[" in word]
        self.assertEqual(len(set(spaces)), 10, said)
        self.assertFalse(clusters.namespaces("self") & set(spaces))

    def test_ssh_is_a_login(self):
        said = self.script("2", text="""
            export MINE=seen
            cd /usr
            ssh -x -o BatchMode=yes root@node2 'hostname; pwd; echo "mine=$MINE"; exit 0'
            ssh node2 exit 7 || echo "code $?"
            ssh nowhere true || echo "code $?" """)
        self.assertEqual(said.split()[0], "node2")
        self.assertNotIn("/usr", said.split())
        self.assertIn("mine=\n", said)
        self.assertIn("code 7\n", said)
        self.assertIn("code 255\n", said)

    def test_node_keeps_folder_environment_and_streams(self):
        said = self.script("2", text="""
            export MINE=seen
            cd /usr
            echo through | cluster node 2 sh -c 'pwd; echo $MINE; cat; echo wrong >&2; exit 9' 2>/dev/null || echo $?""")
        self.assertEqual(said.split(), ["/usr", "seen", "through", "9"])

    def test_several_at_once(self):
        one = clusters.start("--name", "test-one", "2", "sh", "-c", "echo up; ping -q -c 1 -W 5 node2; read line",
                             stdin=-1)
        try:
            self.assertEqual(one.stdout.readline(), "up\n")
            self.succeed("--name", "test-two", "2", "ping", "-q", "-c", "1", "-W", "5", "node2")
            self.assertEqual(clusters.cluster("--name", "test-one", "node", "2", "hostname").stdout, "node2\n")
            same = clusters.cluster("--name", "test-one", "2", "true")
            self.assertEqual(same.returncode, 2)
            self.assertIn("runs already", same.stderr)
        finally:
            one.communicate("\n", timeout=clusters.LIMIT)
        self.assertEqual(one.returncode, 0)


if __name__ == "__main__":
    clusters.main()
