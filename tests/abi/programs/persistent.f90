! The persistent forms of all gathers and scatters, each started 3 times, in place at the root
! and from MPI_BOTTOM too, through mpif.h (the default), the module mpi (-DMODULE) or mpi_f08 (-DF08);
! checks its own data.
#if defined(F08)
#define HANDLE(h) h%MPI_VAL
#else
#define HANDLE(h) h
#endif
program persistent
  use tutti
#include "binding.inc"
  integer, parameter :: root = 1
  integer(kind=MPI_ADDRESS_KIND) :: requests(5), place(1)
  integer :: rank, p, ierror, step, wrong, total, k
  integer :: lengths(1)
  integer, allocatable, asynchronous :: counts(:), displs(:), mine(:), all(:), part(:), parts(:)
  integer, asynchronous :: one, got
#if defined(F08)
  type(MPI_Datatype) :: absolute
#else
  integer :: absolute
#endif

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, p, ierror)
  allocate (counts(p), displs(p), mine(rank + 1), part(rank + 1), all(p * (p + 3)), parts(p))
  call lay_out(counts, displs)
  wrong = 0
  ! A gather from MPI_BOTTOM: the datatype holds the address of `one`.
  call MPI_Get_address(one, place(1), ierror)
  lengths(1) = 1
  call MPI_Type_create_hindexed(1, lengths, place, MPI_INTEGER, absolute, ierror)
  call MPI_Type_commit(absolute, ierror)

  call tutti_gatherv_init(mine, rank + 1, HANDLE(MPI_INTEGER), all, counts, displs, &
                          HANDLE(MPI_INTEGER), root, HANDLE(MPI_COMM_WORLD), requests(1), ierror)
  if (ierror /= MPI_SUCCESS) wrong = wrong + 1
  call tutti_scatterv_init(all, counts, displs, HANDLE(MPI_INTEGER), part, rank + 1, &
                           HANDLE(MPI_INTEGER), root, HANDLE(MPI_COMM_WORLD), requests(2), ierror)
  if (ierror /= MPI_SUCCESS) wrong = wrong + 1
  if (rank == root) then
    call tutti_gather_init(MPI_IN_PLACE, 1, HANDLE(MPI_INTEGER), parts, 1, HANDLE(MPI_INTEGER), &
                           root, HANDLE(MPI_COMM_WORLD), requests(3), ierror)
  else
    call tutti_gather_init(one, 1, HANDLE(MPI_INTEGER), parts, 1, HANDLE(MPI_INTEGER), root, &
                           HANDLE(MPI_COMM_WORLD), requests(3), ierror)
  end if
  if (ierror /= MPI_SUCCESS) wrong = wrong + 1
  if (rank == root) then
    call tutti_scatter_init(parts, 1, HANDLE(MPI_INTEGER), MPI_IN_PLACE, 1, HANDLE(MPI_INTEGER), &
                            root, HANDLE(MPI_COMM_WORLD), requests(4), ierror)
  else
    call tutti_scatter_init(parts, 1, HANDLE(MPI_INTEGER), got, 1, HANDLE(MPI_INTEGER), root, &
                            HANDLE(MPI_COMM_WORLD), requests(4), ierror)
  end if
  if (ierror /= MPI_SUCCESS) wrong = wrong + 1
  call tutti_gather_init(MPI_BOTTOM, 1, HANDLE(absolute), parts, 1, HANDLE(MPI_INTEGER), root, &
                         HANDLE(MPI_COMM_WORLD), requests(5), ierror)
  if (ierror /= MPI_SUCCESS) wrong = wrong + 1

  do step = 1, 3
    all = -1
    mine = 0
    call tutti_start(requests(1), ierror)
    mine = [(1000 * rank + 100 * step + k, k = 1, rank + 1)]
    call tutti_wait(requests(1), ierror)
    if (rank == root) wrong = wrong + wrong_blocks(all, displs, 100 * step)

    part = 0
    call tutti_start(requests(2), ierror)
    call tutti_wait(requests(2), ierror)
    if (any(part /= mine)) wrong = wrong + 1

    parts = -1
    call tutti_start(requests(3), ierror)
    one = 10 * rank + step
    parts(rank + 1) = one
    call tutti_wait(requests(3), ierror)
    if (rank == root .and. any(parts /= [(10 * k + step, k = 0, p - 1)])) wrong = wrong + 1

    got = 10 * rank + step
    if (rank /= root) got = -1
    call tutti_start(requests(4), ierror)
    call tutti_wait(requests(4), ierror)
    if (got /= 10 * rank + step) wrong = wrong + 1

    parts = -1
    call tutti_start(requests(5), ierror)
    one = 7 * rank + step
    call tutti_wait(requests(5), ierror)
    if (rank == root .and. any(parts /= [(7 * k + step, k = 0, p - 1)])) wrong = wrong + 1
  end do

  ! An active request cannot be freed; after that it is null.
  do k = 1, 5
    call tutti_request_free(requests(k), ierror)
    if (ierror /= MPI_SUCCESS .or. requests(k) /= 0) wrong = wrong + 1
  end do
  call MPI_Type_free(absolute, ierror)
#include "verdict.inc"
  call MPI_Finalize(ierror)
contains
#include "blocks.inc"
end program persistent
