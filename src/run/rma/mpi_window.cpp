/// Queries windows, and puts into them.
#include "run/rma/mpi_window.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "run/mpi/devices.hpp"
#include "run/mpi/exchange.hpp"
#include "run/mpi/quirks.hpp"
#include "run/mpi/types.hpp"

namespace tutti {

namespace {

template <class Value>
Value* attribute(MPI_Win window, int key) {
  void* value = nullptr;
  int found = 0;
  const int error = mpi().Win_get_attr(window, key, static_cast<void*>(&value), &found);
  return error == MPI_SUCCESS && found != 0 ? static_cast<Value*>(value) : nullptr;
}

bool has_ranks_of(MPI_Win window, MPI_Comm comm) {
  MPI_Group of_window = mpi().group_null;
  MPI_Group of_comm = mpi().group_null;
  int same = MPI_UNEQUAL;
  if (mpi().Win_get_group(window, &of_window) != MPI_SUCCESS) return false;
  if (mpi().Comm_group(comm, &of_comm) == MPI_SUCCESS) {
    mpi().Group_compare(of_window, of_comm, &same);
    mpi().Group_free(&of_comm);
  }
  mpi().Group_free(&of_window);
  return same == MPI_IDENT;
}

/// Returns an MPI error code.
int put_and_poll(MPI_Comm comm, const AllocatedWindow& window, char& seen) {
  using Clock = std::chrono::steady_clock;
  const Rank rank = rank_in(comm);
  const int p = size_of(comm);
  int error = MPI_SUCCESS;
  if (rank == 0 && p > 1) {
    const std::int64_t word = 1;
    error = mpi().Put(&word, 1, mpi().int64, p - 1, 0, 1, mpi().int64, window.handle);
    if (error == MPI_SUCCESS) error = mpi().Win_flush(p - 1, window.handle);
  }
  if (rank == p - 1 && p > 1) {
    const auto* const word = static_cast<const std::int64_t*>(window.memory);
    const auto end = Clock::now() + std::chrono::milliseconds(20);
    while (seen == 0 && Clock::now() < end) {
      seen = __atomic_load_n(word, __ATOMIC_ACQUIRE) != 0 ? 1 : 0;
    }
  }
  const int polled = mpi().Bcast(&seen, 1, mpi().byte, p - 1, comm);
  return error != MPI_SUCCESS ? error : polled;
}

}  // namespace

int RmaWindow::open(MPI_Win handle, MPI_Comm comm, std::unique_ptr<RmaWindow>& made) {
  auto window = std::make_unique<RmaWindow>();
  window->rank_ = rank_in(comm);
  Part mine;
  const int* flavour = attribute<int>(handle, MPI_WIN_CREATE_FLAVOR);
  const int* unit = attribute<int>(handle, MPI_WIN_DISP_UNIT);
  const MPI_Aint* bytes = attribute<MPI_Aint>(handle, MPI_WIN_SIZE);
  const bool known = flavour != nullptr && unit != nullptr && bytes != nullptr;
  const bool dynamic = known && *flavour == MPI_WIN_FLAVOR_DYNAMIC;
  if (known) {
    mine.base = reinterpret_cast<std::intptr_t>(attribute<void>(handle, MPI_WIN_BASE));
    mine.bytes = *bytes;
    mine.unit = *unit;
  }
  const bool on_device = is_on_device(reinterpret_cast<void*>(mine.base));
  mine.valid = !known || !has_ranks_of(handle, comm) ? MPI_ERR_COMM
               : dynamic                             ? MPI_ERR_RMA_FLAVOR
               : on_device                           ? MPI_ERR_BUFFER
                                                     : MPI_SUCCESS;
  // The standard's error classes are equal on all ranks, and so is what follows from them.
  int error = gather_at_all(mine, window->parts_, comm);
  for (const Part& part : window->parts_) {
    if (error == MPI_SUCCESS) error = static_cast<int>(part.valid);
  }
  if (error != MPI_SUCCESS) return error;
  window->min_unit_ = std::ranges::min_element(window->parts_, {}, &Part::unit)->unit;
  window->handle_ = handle;
  const int locked = mpi().Win_lock_all(0, handle);
  error = agreed_error(comm, locked);
  if (error == MPI_SUCCESS) {
    made = std::move(window);
  } else if (locked == MPI_SUCCESS) {
    mpi().Win_unlock_all(handle);
  }
  return error;
}

int RmaWindow::check(const RmaRegion& region) const {
  const auto holds = [&](const Part& part) {
    return region.bytes <= part.bytes &&
           region.displacement <=
               (part.bytes - region.bytes) / std::max<std::int64_t>(part.unit, 1);
  };
  const bool good = region.displacement >= 0 && std::ranges::all_of(parts_, holds);
  return good ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
}

std::byte* RmaWindow::at(const RmaRegion& region) const {
  const Part& mine = parts_[index(rank_)];
  return reinterpret_cast<std::byte*>(mine.base) + region.displacement * mine.unit;
}

/// Two displacements are closest in the window with the smallest unit.
bool RmaWindow::may_overlap(const RmaRegion& a, const RmaRegion& b) const {
  const Bytes apart = (a.displacement - b.displacement) * min_unit_;
  return apart < b.bytes && -apart < a.bytes;
}

int RmaWindow::put(const std::byte* from, Bytes offset, Bytes bytes, Rank to,
                   const RmaRegion& region) {
  constexpr Bytes most = Bytes{1} << 30;
  const std::int64_t unit = parts_[index(to)].unit;
  for (Bytes done = 0; done < bytes; done += most) {
    const int count = static_cast<int>(std::min(bytes - done, most));
    const Bytes at = offset + done;
    if (at % unit == 0) {
      const int error = mpi().Put(from + done, count, mpi().byte, to,
                                  static_cast<MPI_Aint>(region.displacement + at / unit), count,
                                  mpi().byte, handle_);
      if (error != MPI_SUCCESS) return error;
      continue;
    }
    // Not a multiple of the target's unit: a datatype adds the distance from the region's start.
    IndexedType shifted;
    int error = shifted.make(mpi().byte, {{static_cast<MPI_Aint>(at), count}});
    if (error == MPI_SUCCESS) {
      error = mpi().Put(from + done, count, mpi().byte, to,
                        static_cast<MPI_Aint>(region.displacement), 1, shifted.handle(), handle_);
    }
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

int AllocatedWindow::open(MPI_Comm comm, std::size_t bytes, int unit) {
  // MPICH 4.0 puts beside the target in windows that are no multiple of 16 bytes.
  const auto rounded = static_cast<MPI_Aint>((bytes + 63) / 64 * 64);
  int error = mpi().Win_allocate(rounded, unit, mpi().info_null, comm, static_cast<void*>(&memory),
                                 &handle);
  const bool is_made = error == MPI_SUCCESS;
  if (is_made && !has_other_errors_return()) {
    error = mpi().Win_set_errhandler(handle, mpi().errors_return);
  }
  if (is_made) std::memset(memory, 0, static_cast<std::size_t>(rounded));
  if (error == MPI_SUCCESS) error = mpi().Win_lock_all(0, handle);
  const bool is_locked = error == MPI_SUCCESS;
  if (is_locked) error = mpi().Win_sync(handle);
  error = agreed_error(comm, error);
  if (error == MPI_SUCCESS) return error;
  if (is_locked) static_cast<void>(mpi().Win_unlock_all(handle));
  bool have_all = false;
  const bool is_known = true_on_all(comm, is_made, have_all) == MPI_SUCCESS;
  if (is_known && have_all) static_cast<void>(mpi().Win_free(&handle));
  return error;
}

int AllocatedWindow::close() {
  const int error = mpi().Win_unlock_all(handle);
  return error == MPI_SUCCESS ? mpi().Win_free(&handle) : error;
}

int AllocatedWindow::add(std::int64_t by, Rank to, std::size_t at) const {
  const int error = mpi().Accumulate(&by, 1, mpi().int64, to, static_cast<MPI_Aint>(at), 1,
                                     mpi().int64, mpi().combining[MpiFunctions::sum], handle);
  return error == MPI_SUCCESS ? mpi().Win_flush(to, handle) : error;
}

int AllocatedWindow::read(std::vector<std::int64_t>& numbers, Rank own) const {
  const auto count = static_cast<int>(numbers.size());
  const int error =
      mpi().Get_accumulate(nullptr, 0, mpi().int64, numbers.data(), count, mpi().int64, own, 0,
                           count, mpi().int64, mpi().other_ops[MpiFunctions::no_op], handle);
  return error == MPI_SUCCESS ? mpi().Win_flush(own, handle) : error;
}

int probe_rma_progress(MPI_Comm comm, bool& progresses) {
  AllocatedWindow window;
  if (const int error = window.open(comm, sizeof(std::int64_t), sizeof(std::int64_t))) return error;
  char seen = 0;
  const int error = put_and_poll(comm, window, seen);
  const int closed = window.close();
  progresses = seen != 0;
  return error != MPI_SUCCESS ? error : closed;
}

}  // namespace tutti
