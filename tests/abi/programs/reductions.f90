! Reduce, allreduce, reduce_scatter(_block), scan and exscan, in place too, with an operation of the program's own that
! does not commute, through mpif.h (the default), the module mpi (-DMODULE) or mpi_f08 (-DF08); checks
! its own data.
module ranges
  implicit none
contains
  ! Numbers are from * 100 + to: joins adjacent ranges of ranks.
  subroutine join(left, result, length, datatype)
#if defined(F08)
    use mpi_f08
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: left, result
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    integer :: i
    call c_f_pointer(left, a, [length])
    call c_f_pointer(result, b, [length])
#else
    integer :: length, datatype, i
    integer :: left(length), result(length)
#define a left
#define b result
#endif
    do i = 1, length
      if (mod(a(i), 100) /= b(i) / 100) then
        b(i) = -1
      else
        b(i) = a(i) / 100 * 100 + mod(b(i), 100)
      end if
    end do
  end subroutine
end module

program reductions
  use ranges
#include "binding.inc"
#if defined(F08)
  type(MPI_Op) :: op
#else
  integer :: op
#endif
  integer :: rank, size, ierror, root, r, wrong, total, one
  integer, allocatable :: counts(:), sent(:), all(:)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  call MPI_Op_create(join, .false., op, ierror)
  allocate (counts(size), sent(size), all(size))
  counts = 1
  wrong = 0
  do root = 0, size - 1
    one = rank * 100 + rank + 1
    all = -1
    call MPI_Reduce([one], all, 1, MPI_INTEGER, op, root, MPI_COMM_WORLD, ierror)
    if (rank == root .and. all(1) /= size) wrong = wrong + 1
    if (rank /= root .and. all(1) /= -1) wrong = wrong + 1
  end do
  sent = one
  call MPI_Allreduce(MPI_IN_PLACE, sent, size, MPI_INTEGER, op, MPI_COMM_WORLD, ierror)
  if (any(sent /= size)) wrong = wrong + 1
  all = -1
  call MPI_Exscan([one], all, 1, MPI_INTEGER, op, MPI_COMM_WORLD, ierror)
  if (all(1) /= merge(-1, rank, rank == 0)) wrong = wrong + 1
  all = one
  call MPI_Scan(MPI_IN_PLACE, all, size, MPI_INTEGER, op, MPI_COMM_WORLD, ierror)
  if (any(all /= rank + 1)) wrong = wrong + 1
  sent = [(rank + r, r = 0, size - 1)]
  call MPI_Reduce_scatter(sent, all, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (all(1) /= size * (size - 1) / 2 + rank * size) wrong = wrong + 1
  call MPI_Reduce_scatter_block(sent, all, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierror)
  if (all(1) /= rank + size - 1) wrong = wrong + 1

#include "verdict.inc"
  call MPI_Op_free(op, ierror)
  call MPI_Finalize(ierror)
end program
