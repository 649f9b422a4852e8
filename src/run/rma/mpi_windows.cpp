/// The windows of a system: their numbers, registration and release.
#include <iterator>

#include "run/mpi/exchange.hpp"
#include "run/rma/mpi_rma.hpp"

namespace tutti {

int RmaSystem::add_window(MPI_Win handle, int (*watch)(MPI_Win, RmaSystem&), int& number) {
  std::unique_ptr<RmaWindow> window;
  if (const int error = RmaWindow::open(handle, comm(), window)) return error;
  if (const int error = find_number(number)) {
    window->close();
    return error;
  }
  {
    const std::lock_guard lock(mutex_);
    windows_[number] = std::move(window);
    looked_ = moved_ = std::chrono::steady_clock::now();
  }
  note_handle(number, &handle);
  const int error = watch(handle, *this);
  // No rank begins an operation before this, so that operations find the window on all ranks.
  bool all_succeeded = false;
  const int exchanged = true_on_all(comm(), error == MPI_SUCCESS, all_succeeded);
  if (all_succeeded) {
    Background::of_process().wake();
    return MPI_SUCCESS;
  }
  const std::lock_guard lock(mutex_);
  const int closed = drop_window(number);
  if (error != MPI_SUCCESS) return error;
  if (exchanged != MPI_SUCCESS) return exchanged;
  return closed != MPI_SUCCESS ? closed : MPI_ERR_OTHER;
}

/// Finds a number that no window of any rank has or had. Threads may register others on other
/// communicators meanwhile; they then try again.
int RmaSystem::find_number(int& number) {
  static std::atomic<int> last = 0;
  for (bool is_new = false; !is_new;) {
    Bytes largest = 0;
    if (const int error = max_on_all(comm(), last + 1, largest)) return error;
    number = static_cast<int>(largest);
    int before = last;
    while (before < number && !last.compare_exchange_weak(before, number)) {
    }
    if (const int error = true_on_all(comm(), before < number, is_new)) return error;
  }
  return MPI_SUCCESS;
}

/// The least number of a window; 0 if there is none.
int RmaSystem::first_window() {
  const std::lock_guard lock(mutex_);
  return windows_.empty() ? 0 : windows_.begin()->first;
}

/// All ranks have forwarded the operations that a rank sees complete: after the barrier none is in
/// transit.
int RmaSystem::remove_window(int number) {
  if (!has_window(number)) return MPI_ERR_WIN;
  int error = wait([&] {
    const std::lock_guard lock(mutex_);
    return !has_own_operations(number);
  });
  if (error == MPI_SUCCESS) error = meet();
  const std::lock_guard lock(mutex_);
  const int closed = drop_window(number);
  return error != MPI_SUCCESS ? error : closed;
}

/// A barrier during which other ranks' operations continue. The MPI may keep the background thread
/// out meanwhile, as MPICH does while it deletes a window's attribute.
int RmaSystem::meet() {
  MPI_Request request = mpi().request_null;
  int error = mpi().Ibarrier(comm(), &request);
  const int stopped = wait([&] {
    int met = 0;
    if (error == MPI_SUCCESS) error = mpi().Test(&request, &met, MPI_STATUS_IGNORE);
    return error != MPI_SUCCESS || met != 0;
  });
  const std::lock_guard lock(mutex_);
  note(error);  // other ranks' operations may need this window
  return error != MPI_SUCCESS ? error : stopped;
}

void RmaSystem::lose_window(int number) {
  const std::lock_guard lock(mutex_);
  for (std::list<RmaOperation>* operations : {&own_, &waiting_, &others_}) {
    for (auto at = operations->begin(); at != operations->end();) {
      const bool is_on = at->control().window == number;
      if (is_on && at->at_root()) at->finish(MPI_ERR_WIN);
      at = is_on ? operations->erase(at) : std::next(at);
    }
  }
  windows_.erase(number);
  note_handle(number, nullptr);
}

/// The caller holds the lock.
int RmaSystem::drop_window(int number) {
  const auto found = windows_.find(number);
  if (found == windows_.end()) return MPI_ERR_WIN;  // lost meanwhile
  const int error = found->second->close();
  windows_.erase(found);
  note_handle(number, nullptr);
  return error;
}

/// A null handle removes the number.
void RmaSystem::note_handle(int number, const MPI_Win* handle) {
  const std::lock_guard lock(handles_mutex_);
  if (handle != nullptr) {
    handles_[number] = *handle;
  } else {
    handles_.erase(number);
  }
}

bool RmaSystem::has_window(int number) {
  const std::lock_guard lock(mutex_);
  return windows_.contains(number);
}

int RmaSystem::number_of(MPI_Win handle) {
  const std::lock_guard lock(handles_mutex_);
  for (const auto& [number, known] : handles_) {
    if (known == handle) return number;
  }
  return -1;
}

}  // namespace tutti
