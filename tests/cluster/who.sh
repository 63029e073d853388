#!/bin/sh
# What a rank that a launcher has started knows: its rank by each of them, and its node.
echo "pmi=$PMI_RANK/$PMI_SIZE pmi_fd=${PMI_FD:+set} pmix=$PMIX_RANK slurm=$SLURM_PROCID node=$(hostname)"
