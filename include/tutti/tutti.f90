! The Fortran interfaces of Tutti. Written by tools/gen_fortran.py; change what that reads instead.
!
!     mpifort -o program tutti.f90 program.f90 -ltutti-mpich     (or -ltutti-openmpi; before the MPI)
!
! The module serves mpif.h, `use mpi` and `use mpi_f08`, where a handle is passed as comm%MPI_VAL.
! tutti.h documents the functions.
module tutti
  use, intrinsic :: iso_c_binding, only: c_double, c_int, c_intptr_t, c_long_long, c_ptr
  implicit none
  private :: c_double, c_int, c_intptr_t, c_long_long, c_ptr

  integer(c_int), parameter :: TUTTI_VERSION_MAJOR = 0
  integer(c_int), parameter :: TUTTI_VERSION_MINOR = 1
  integer(c_int), parameter :: TUTTI_VERSION_PATCH = 0
  integer(c_intptr_t), parameter :: TUTTI_REQUEST_NULL = 0
  integer(c_int), parameter :: TUTTI_SHARED_READ_ONLY = 0
  integer(c_int), parameter :: TUTTI_COPY_ON_WRITE = 1
  integer(c_int), parameter :: TUTTI_WINDOW_NULL = 0
  integer(c_int), parameter :: TUTTI_RMA_REQUEST_NULL = 0

  interface
    subroutine tutti_arrival_init(comm, fraction, ierror)
      import
      integer(c_int), intent(in) :: comm
      real(c_double), intent(in) :: fraction
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_arrival_edge(comm, ierror)
      import
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_arrival_finalize(comm, ierror)
      import
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_allgather_shared(sendbuf, sendcount, sendtype, recvcount, recvtype, comm, &
                                      mode, result, ierror)
      import
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
      !DIR$ IGNORE_TKR sendbuf
      type(*), dimension(*), intent(in) :: sendbuf
      integer(c_int), intent(in) :: sendcount, sendtype, recvcount, recvtype, comm, mode
      type(c_ptr), intent(out) :: result
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_allgatherv_shared(sendbuf, sendcount, sendtype, recvcounts, recvtype, comm, &
                                       mode, result, ierror)
      import
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
      !DIR$ IGNORE_TKR sendbuf
      type(*), dimension(*), intent(in) :: sendbuf
      integer(c_int), intent(in) :: sendcount, sendtype, recvtype, comm, mode
      integer(c_int), dimension(*), intent(in) :: recvcounts
      type(c_ptr), intent(out) :: result
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_bcast_shared(buffer, count, datatype, root, comm, mode, result, ierror)
      import
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buffer
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: buffer
      !DIR$ IGNORE_TKR buffer
      type(*), dimension(*), intent(in) :: buffer
      integer(c_int), intent(in) :: count, datatype, root, comm, mode
      type(c_ptr), intent(out) :: result
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_allreduce_shared(sendbuf, count, datatype, op, comm, mode, result, ierror)
      import
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
      !DIR$ IGNORE_TKR sendbuf
      type(*), dimension(*), intent(in) :: sendbuf
      integer(c_int), intent(in) :: count, datatype, op, comm, mode
      type(c_ptr), intent(out) :: result
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_rma_init(comm, ierror)
      import
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_rma_finalize(comm, ierror)
      import
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_rma_window_register(win, comm, window, ierror)
      import
      integer(c_int), intent(in) :: win, comm
      integer(c_int), intent(inout) :: window
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_rma_window_release(window, ierror)
      import
      integer(c_int), intent(inout) :: window
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_rma_bcast(buffer, count, datatype, displacement, window, request, ierror)
      import
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buffer
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: buffer
      !DIR$ IGNORE_TKR buffer
      type(*), dimension(*), asynchronous :: buffer
      integer(c_int), intent(in) :: count, datatype, window
      integer(c_intptr_t), intent(in) :: displacement
      integer(c_int), intent(inout) :: request
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_rma_scatter(buffer, count, datatype, displacement, window, request, ierror)
      import
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buffer
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: buffer
      !DIR$ IGNORE_TKR buffer
      type(*), dimension(*), asynchronous :: buffer
      integer(c_int), intent(in) :: count, datatype, window
      integer(c_intptr_t), intent(in) :: displacement
      integer(c_int), intent(inout) :: request
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_rma_gather(buffer, count, datatype, displacement, window, request, ierror)
      import
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buffer
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: buffer
      !DIR$ IGNORE_TKR buffer
      type(*), dimension(*), asynchronous :: buffer
      integer(c_int), intent(in) :: count, datatype, window
      integer(c_intptr_t), intent(in) :: displacement
      integer(c_int), intent(inout) :: request
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_rma_reduce(buffer, count, datatype, op, displacement, window, request, &
                                ierror)
      import
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buffer
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: buffer
      !DIR$ IGNORE_TKR buffer
      type(*), dimension(*), asynchronous :: buffer
      integer(c_int), intent(in) :: count, datatype, op, window
      integer(c_intptr_t), intent(in) :: displacement
      integer(c_int), intent(inout) :: request
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_rma_flush(request, ierror)
      import
      integer(c_int), intent(inout) :: request
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_rma_test(request, flag, ierror)
      import
      integer(c_int), intent(inout) :: request, flag
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_rma_arrived(window, root, number, ierror)
      import
      integer(c_int), intent(in) :: window, root
      integer(c_long_long), intent(out) :: number
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_rma_wait(window, root, number, ierror)
      import
      integer(c_int), intent(in) :: window, root
      integer(c_long_long), intent(in) :: number
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_rma_progress(comm, flag, ierror)
      import
      integer(c_int), intent(in) :: comm
      integer(c_int), intent(inout) :: flag
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_start(request, ierror)
      import
      integer(c_intptr_t), intent(inout) :: request
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_request_free(request, ierror)
      import
      integer(c_intptr_t), intent(inout) :: request
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_gather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, &
                                 comm, request, ierror)
      import
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
      !DIR$ IGNORE_TKR sendbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      integer(c_int), intent(in) :: sendcount, sendtype, recvcount, recvtype, root, comm
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
      !DIR$ IGNORE_TKR recvbuf
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_intptr_t), intent(inout) :: request
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_gatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
                                  recvtype, root, comm, request, ierror)
      import
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
      !DIR$ IGNORE_TKR sendbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      integer(c_int), intent(in) :: sendcount, sendtype, recvtype, root, comm
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
      !DIR$ IGNORE_TKR recvbuf
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_int), dimension(*), intent(in), asynchronous :: recvcounts, displs
      integer(c_intptr_t), intent(inout) :: request
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_scatter_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
                                  root, comm, request, ierror)
      import
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
      !DIR$ IGNORE_TKR sendbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      integer(c_int), intent(in) :: sendcount, sendtype, recvcount, recvtype, root, comm
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
      !DIR$ IGNORE_TKR recvbuf
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_intptr_t), intent(inout) :: request
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_scatterv_init(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, &
                                   recvtype, root, comm, request, ierror)
      import
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
      !DIR$ IGNORE_TKR sendbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      integer(c_int), dimension(*), intent(in), asynchronous :: sendcounts, displs
      integer(c_int), intent(in) :: sendtype, recvcount, recvtype, root, comm
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
      !DEC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
      !DIR$ IGNORE_TKR recvbuf
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_intptr_t), intent(inout) :: request
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_wait(request, ierror)
      import
      integer(c_intptr_t), intent(inout) :: request
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_shared_free(result, ierror)
      import
      type(c_ptr), intent(in) :: result
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_distances_measure(comm, file, nodes_per_switch, ierror)
      import
      integer(c_int), intent(in) :: comm, nodes_per_switch
      character(len=*), intent(in) :: file
      integer(c_int), intent(out) :: ierror
    end subroutine

    subroutine tutti_comm_reorder(comm, collective, newcomm, ierror)
      import
      integer(c_int), intent(in) :: comm
      character(len=*), intent(in) :: collective
      integer(c_int), intent(inout) :: newcomm
      integer(c_int), intent(out) :: ierror
    end subroutine
  end interface
end module
