! One-sided scatters and gathers of every root through mpi_f08; checks its own data.
program windows
  use mpi_f08
  use tutti
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer, c_long_long
  implicit none
  integer, parameter :: each = 4   ! MPICH 4.0 needs windows of a multiple of 16 bytes
  integer :: level, rank, p, i, root, flag, window, request, ierror, wrong, total, refused
  integer, pointer, asynchronous :: entries(:)
  type(c_ptr) :: base
  integer, allocatable, asynchronous :: sent(:), back(:)
  integer(kind=MPI_ADDRESS_KIND) :: bytes, place, address(1)
  integer(c_long_long) :: arrived
  type(MPI_Win) :: win
  type(MPI_Datatype) :: absolute

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, p)
  wrong = 0
  bytes = 4 * each * p
  call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
  call c_f_pointer(base, entries, [each * p])
  entries = -1
  call MPI_Barrier(MPI_COMM_WORLD)
  call tutti_rma_init(MPI_COMM_WORLD%MPI_VAL, ierror)
  if (ierror /= MPI_SUCCESS) wrong = wrong + 1
  flag = -1
  call tutti_rma_progress(MPI_COMM_WORLD%MPI_VAL, flag, ierror)
  if (ierror /= MPI_SUCCESS .or. all(flag /= [0, 1])) wrong = wrong + 1
  call tutti_rma_window_register(win%MPI_VAL, MPI_COMM_WORLD%MPI_VAL, window, ierror)
  if (ierror /= MPI_SUCCESS) wrong = wrong + 1

  ! Each root's elements have their own place in all windows.
  sent = [(1000 * rank + i, i = 1, each * p)]
  place = each * rank
  call tutti_rma_scatter(sent, each, MPI_INTEGER%MPI_VAL, place, window, request, ierror)
  if (ierror /= MPI_SUCCESS) wrong = wrong + 1
  flag = 0
  do while (flag == 0 .and. ierror == MPI_SUCCESS)
    call tutti_rma_test(request, flag, ierror)
  end do
  if (ierror /= MPI_SUCCESS .or. request /= TUTTI_RMA_REQUEST_NULL) wrong = wrong + 1
  allocate (back(each * p))
  back = -1
  call tutti_rma_gather(back, each, MPI_INTEGER%MPI_VAL, place, window, request, ierror)
  if (ierror /= MPI_SUCCESS) wrong = wrong + 1
  call tutti_rma_flush(request, ierror)
  if (ierror /= MPI_SUCCESS .or. any(back /= sent)) wrong = wrong + 1

  ! To MPI_BOTTOM: the datatype holds the address of `back`. In place is an error.
  call MPI_Get_address(back, address(1))
  call MPI_Type_create_hindexed(1, [each], address, MPI_INTEGER, absolute)
  call MPI_Type_commit(absolute)
  back = -1
  call tutti_rma_gather(MPI_BOTTOM, 1, absolute%MPI_VAL, place, window, request, ierror)
  if (ierror /= MPI_SUCCESS) wrong = wrong + 1
  call tutti_rma_flush(request, ierror)
  if (ierror /= MPI_SUCCESS .or. any(back /= sent)) wrong = wrong + 1
  call MPI_Type_free(absolute)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call tutti_rma_bcast(MPI_IN_PLACE, each, MPI_INTEGER%MPI_VAL, place, window, request, refused)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
  if (refused /= MPI_ERR_BUFFER) wrong = wrong + 1
  do root = 0, p - 1
    arrived = 0
    do while (arrived < 3 .and. ierror == MPI_SUCCESS)
      call tutti_rma_arrived(window, root, arrived, ierror)
    end do
    if (ierror /= MPI_SUCCESS .or. arrived /= 3) wrong = wrong + 1
    if (any(entries(each * root + 1:each * (root + 1)) /= &
            [(1000 * root + each * rank + i, i = 1, each)])) wrong = wrong + 1
  end do

  call tutti_rma_window_release(window, ierror)
  if (ierror /= MPI_SUCCESS) wrong = wrong + 1
  call tutti_rma_finalize(MPI_COMM_WORLD%MPI_VAL, ierror)
  if (ierror /= MPI_SUCCESS) wrong = wrong + 1
#include "verdict.inc"
  call MPI_Win_free(win)
  call MPI_Finalize()
end program
