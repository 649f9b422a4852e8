! Times allreduces of an integer from 20 routines deep, one rank: a report searches the stack for the call site.
!
!   mpifort -O1 bench/programs/fortran_calls.f90 -o fortran_calls
!   mpirun -n 1 ./fortran_calls; tutti run --report FILE.json -- mpirun -n 1 ./fortran_calls
program fortran_calls
  use mpi
  implicit none
  integer :: e
  call MPI_Init(e)
  call deep(20)
  call MPI_Finalize(e)
contains
  recursive subroutine deep(n)
    integer, intent(in) :: n
    integer :: i, s, r, e
    double precision :: t
    if (n > 0) then
      call deep(n - 1)
      return
    end if
    s = 1
    do i = 1, 1000
      call MPI_Allreduce(s, r, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
    end do
    t = MPI_Wtime()
    do i = 1, 100000
      call MPI_Allreduce(s, r, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
    end do
    print *, 'ns a call', 1e9 * (MPI_Wtime() - t) / 100000
  end subroutine
end program
