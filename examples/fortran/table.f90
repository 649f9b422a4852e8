! A table with a copy on every rank: a rank with news updates all copies, and no other rank calls.
!
!     mpifort -o table tutti.f90 table.f90 -ltutti-mpich     (or -ltutti-openmpi; before the MPI)
!     mpirun -n 5 ./table
program table
  use mpi_f08
  use tutti
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer, parameter :: each = 100
  integer :: level, rank, p, i, root, window, request, ierror
  integer, pointer, asynchronous :: entries(:)
  type(c_ptr) :: base
  integer, asynchronous :: news(each), total(each)   ! until the flush of a request that names neither
  integer(kind=MPI_ADDRESS_KIND) :: bytes, place
  integer(kind=8), parameter :: first = 1
  type(MPI_Win) :: win

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, p)
  bytes = 4 * each * p
  call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
  call c_f_pointer(base, entries, [each * p])
  entries = -1
  call MPI_Barrier(MPI_COMM_WORLD)   ! nobody has news before all are ready
  call tutti_rma_init(MPI_COMM_WORLD%MPI_VAL, ierror)
  if (ierror /= MPI_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 1)
  call tutti_rma_window_register(win%MPI_VAL, MPI_COMM_WORLD%MPI_VAL, window, ierror)

  news = [(1000 * rank + i, i = 1, each)]
  place = each * rank
  call tutti_rma_bcast(news, each, MPI_INTEGER%MPI_VAL, place, window, request, ierror)
  call tutti_rma_flush(request, ierror)   ! all have mine
  do root = 0, p - 1
    call tutti_rma_wait(window, root, first, ierror)   ! and I have theirs
    if (any(entries(each * root + 1:each * (root + 1)) /= [(1000 * root + i, i = 1, each)])) then
      call MPI_Abort(MPI_COMM_WORLD, 1)
    end if
  end do

  ! The sum of this rank's entry in all tables; again no other rank calls.
  call tutti_rma_reduce(total, each, MPI_INTEGER%MPI_VAL, MPI_SUM%MPI_VAL, place, window, request, ierror)
  call tutti_rma_flush(request, ierror)
  if (any(total /= p * news)) call MPI_Abort(MPI_COMM_WORLD, 1)

  call tutti_rma_window_release(window, ierror)
  call tutti_rma_finalize(MPI_COMM_WORLD%MPI_VAL, ierror)
  if (rank == 0 .and. ierror == MPI_SUCCESS) print '(a)', 'correct'
  call MPI_Win_free(win)
  call MPI_Finalize()
end program table
