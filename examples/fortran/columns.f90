! Gathers columns of different lengths with mpi_f08; it contains no Tutti code.
!
!     mpifort -o columns columns.f90
!     mpirun -n 5 ./columns
!     tutti run -- mpirun -n 5 ./columns
program columns
  use mpi_f08
  implicit none
  integer :: rank, p, i, total
  integer, allocatable :: counts(:), displs(:)
  real(kind(1d0)), allocatable :: mine(:), all(:)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, p)

  allocate (mine(2 * rank + 1), counts(p), displs(p))
  mine = [(rank + i / 1000d0, i = 1, size(mine))]
  counts = [(2 * i + 1, i = 0, p - 1)]
  displs = [(sum(counts(1:i - 1)), i = 1, p)]
  total = merge(sum(counts), 0, rank == p - 1)
  allocate (all(total))

  call MPI_Gatherv(mine, size(mine), MPI_DOUBLE_PRECISION, &
                   all, counts, displs, MPI_DOUBLE_PRECISION, p - 1, MPI_COMM_WORLD)
  if (rank == p - 1) print '(5f8.3)', all
  call MPI_Finalize()
end program columns
