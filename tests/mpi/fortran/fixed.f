C     The oldest form: fixed, with mpif.h and nothing declared.
      PROGRAM FIXED
      INCLUDE 'mpif.h'
      INTEGER IERR, RANK, TOTAL, SIZES
      INTEGER STATUS(MPI_STATUS_SIZE)
      CALL MPI_INIT(IERR)
      CALL MPI_COMM_RANK(MPI_COMM_WORLD, RANK, IERR)
      CALL MPI_COMM_SIZE(MPI_COMM_WORLD, SIZES, IERR)
      CALL MPI_ALLREDUCE(RANK + 1, TOTAL, 1, MPI_INTEGER, MPI_SUM,
     &                   MPI_COMM_WORLD, IERR)
      IF (TOTAL .NE. SIZES * (SIZES + 1) / 2) STOP 1
      CALL MPI_SENDRECV(RANK, 1, MPI_INTEGER, MOD(RANK + 1, SIZES), 4,
     &                  TOTAL, 1, MPI_INTEGER, MPI_ANY_SOURCE, 4,
     &                  MPI_COMM_WORLD, STATUS, IERR)
      IF (STATUS(MPI_SOURCE) .NE. TOTAL) STOP 2
      IF (RANK .EQ. 0) PRINT '(A)', 'fixed: right'
      CALL MPI_FINALIZE(IERR)
      END
