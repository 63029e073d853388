"""A cluster in a box: several nodes on one machine, each with its own network, host name, processes and memory.

    maker (command.py)              the process that was called; holds nothing
      init (init.py)                pid 1 of a pid namespace, with a network and a mount namespace of its own
        switch                      a bridge, or the forwarder with delay and loss (network.py, forwarder.cpp)
        node 1, node 2, ... (node.py)   each pid 1 of another pid namespace; runs what it is asked to
        munged, slurmctld, slurmd   (slurm.py)

Whatever ends the maker ends the init (PR_SET_PDEATHSIG), and with a pid namespace's init the kernel ends all that is in it.
Interfaces, mounts and files are in namespaces that nothing outside refers to, so they go too. Nothing has to be cleaned up.
"""
