! Scatters blocks by arrival, with a progress hint after half of the work of a step.
!
!     mpifort -o edges tutti.f90 edges.f90 -ltutti-mpich     (or -ltutti-openmpi)
!     tutti run --scatter BSBN -- mpirun -n 5 ./edges
program edges
  use mpi_f08
  use tutti
  implicit none
  integer :: level, rank, p, i, step, ierror
  integer, allocatable :: all(:)
  integer :: mine

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, p)
  allocate (all(p))

  call tutti_arrival_init(MPI_COMM_WORLD%MPI_VAL, 0.5d0, ierror)
  do step = 1, 10
    all = [(100 * step + i, i = 0, p - 1)]
    ! Half of the work of a step.
    call tutti_arrival_edge(MPI_COMM_WORLD%MPI_VAL, ierror)
    ! The other half.
    call MPI_Scatter(all, 1, MPI_INTEGER, mine, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    if (mine /= 100 * step + rank .or. ierror /= MPI_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 1)
  end do
  call tutti_arrival_finalize(MPI_COMM_WORLD%MPI_VAL, ierror)
  if (rank == 0 .and. ierror == MPI_SUCCESS) print '(a)', 'correct'
  call MPI_Finalize()
end program edges
