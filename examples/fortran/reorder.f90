! Measures the distances between ranks, and numbers the ranks by distance.
!
!     mpifort -o reorder tutti.f90 reorder.f90 -ltutti-mpich     (or -ltutti-openmpi)
!     mpirun -n 5 ./reorder distances.json
program reorder
  use mpi_f08
  use tutti
  implicit none
  type(MPI_Comm) :: comm
  character(len=1000) :: file
  integer :: rank, p, i, ierror, failed
  integer, allocatable :: all(:)

  call MPI_Init()
  call get_command_argument(1, file)
  call tutti_distances_measure(MPI_COMM_WORLD%MPI_VAL, file, 0, ierror)
  failed = ierror
  call tutti_comm_reorder(MPI_COMM_WORLD%MPI_VAL, 'allgather', comm%MPI_VAL, ierror)
  if (failed /= MPI_SUCCESS .or. ierror /= MPI_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 1)

  ! Ranks with adjacent numbers in `comm` are near to one another.
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, p)
  allocate (all(p))
  call MPI_Allgather(rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, comm)
  if (any(all /= [(i, i = 0, p - 1)])) call MPI_Abort(MPI_COMM_WORLD, 1)
  if (rank == 0) print '(a)', 'correct'
  call MPI_Comm_free(comm)
  call MPI_Finalize()
end program reorder
