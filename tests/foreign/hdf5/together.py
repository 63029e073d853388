"""All ranks write one HDF5 file with h5py, in several ways, and read it back; then rank 0 reads it without MPI."""

import sys

import h5py
import numpy
from mpi4py import MPI

COLUMNS = 64
ROWS = 1000

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
name = f"together-{size}.h5"
values = numpy.arange(ROWS * COLUMNS * size, dtype="f8").reshape(ROWS, COLUMNS * size)
mine = slice(rank, None, size)  # every size-th column, so that the ranks' parts are interleaved
band = slice(rank * ROWS // size, (rank + 1) * ROWS // size)
wrong = []


def expect(what: str, found: object, expected: object) -> None:
    if not numpy.array_equal(found, expected):
        wrong.append(f"rank {rank}: {what}")


def write_nothing(dataset: h5py.Dataset) -> None:
    """Takes part in a collective write: an empty slice would make h5py return at once, and the others wait."""
    there, here = dataset.id.get_space(), h5py.h5s.create_simple((1,))
    there.select_none()
    here.select_none()
    dataset.id.write(here, there, numpy.zeros(1, "i8"), dxpl=dataset._dxpl)


with h5py.File(name, "w", driver="mpio", comm=comm) as file:
    file.attrs["ranks"] = size
    for kind, chunks in (("contiguous", None), ("chunked", (128, 32))):
        group = file.create_group(kind)
        interleaved = group.create_dataset("interleaved", values.shape, "f8", chunks=chunks)
        with interleaved.collective:
            interleaved[:, mine] = values[:, mine]
        group.create_dataset("bands", values.shape, ">i4", chunks=chunks)[band] = values[band]  # converts, independently
        alone = group.create_dataset("some", (size,), "i8")
        with alone.collective:
            if rank % 2 == 0:
                alone[rank] = rank + 1
            else:
                write_nothing(alone)
    packed = file.create_dataset("packed", values.shape, "f8", chunks=(64, COLUMNS), compression="gzip", shuffle=True)
    with packed.collective:
        packed[:, rank * COLUMNS : (rank + 1) * COLUMNS] = values[:, rank * COLUMNS : (rank + 1) * COLUMNS]
    growing = file.create_dataset("growing", (0, size), "i4", maxshape=(None, size), chunks=(4, size))
    for step in range(5):
        growing.resize((step + 1, size))
        with growing.collective:
            growing[step, rank] = 100 * step + rank

    file.atomic = True
    shared = file["contiguous/some"]
    if rank == 0:
        shared[size - 1] = -1
    comm.Barrier()
    expect("what another rank has written in atomic mode", shared[size - 1], -1)


def check(file: h5py.File, part: slice) -> None:
    expect("attribute", file.attrs["ranks"], size)
    for kind in ("contiguous", "chunked"):
        expect(f"{kind}/interleaved", file[kind]["interleaved"][:, part], values[:, part])
        expect(f"{kind}/bands", file[kind]["bands"][part], values[part].astype("i4"))
        some = [0 if k % 2 else k + 1 for k in range(size)]
        if kind == "contiguous":
            some[size - 1] = -1
        expect(f"{kind}/some", file[kind]["some"][:], some)
    expect("packed", file["packed"][:, part], values[:, part])
    expect("growing", file["growing"][:], [[100 * step + k for k in range(size)] for step in range(5)])


with h5py.File(name, "r", driver="mpio", comm=comm) as file:
    check(file, slice((rank + 1) % size, None, size))
    with file["chunked/interleaved"].collective:
        expect("collective read", file["chunked/interleaved"][band], values[band])
if rank == 0:
    with h5py.File(name, "r") as file:
        check(file, slice(None))

wrong = comm.reduce(wrong)
if rank == 0:
    print(*(wrong or ["all is as written"]), sep="\n")
sys.exit(comm.bcast(bool(wrong)))
