! A persistent gather in place through the module mpi, before any other call from Fortran: C has
! initialised MPI. For an MPI whose handles are integers in C, too; checks its own data.
program begun_in_c
  use, intrinsic :: iso_c_binding
  use mpi
  use tutti
  implicit none
  interface
    integer(c_int) function init(argc, argv) bind(c, name="MPI_Init")
      import :: c_int, c_ptr
      type(c_ptr), value :: argc, argv
    end function
    integer(c_int) function comm_rank(comm, rank) bind(c, name="MPI_Comm_rank")
      import :: c_int
      integer(c_int), value :: comm
      integer(c_int) :: rank
    end function
  end interface
  integer, parameter :: p = 3
  integer(kind=MPI_ADDRESS_KIND) :: request
  integer, asynchronous :: blocks(p), mine
  integer :: rank, ierror, k

  ierror = init(c_null_ptr, c_null_ptr)
  ierror = comm_rank(MPI_COMM_WORLD, rank)
  mine = 10 * rank + 7
  blocks = mine
  if (rank == 0) then
    call tutti_gather_init(MPI_IN_PLACE, 1, MPI_INTEGER, blocks, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, request, ierror)
  else
    call tutti_gather_init(mine, 1, MPI_INTEGER, blocks, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, request, ierror)
  end if
  if (ierror /= MPI_SUCCESS) error stop
  call tutti_start(request, ierror)
  call tutti_wait(request, ierror)
  call tutti_request_free(request, ierror)
  if (rank == 0 .and. all(blocks == [(10 * k + 7, k = 0, p - 1)])) print '(a)', 'correct'
  call MPI_Finalize(ierror)
end program
