package main

// #cgo pkg-config: mpi
// #include <mpi.h>
// static int start(void) { return MPI_Init_thread(0, 0, MPI_THREAD_MULTIPLE, &(int){0}); }
// static int rank(void) { int r; MPI_Comm_rank(MPI_COMM_WORLD, &r); return r; }
import "C"
import "fmt"

func main() {
	C.start()
	fmt.Println("rank", C.rank())
	C.MPI_Finalize()
}
