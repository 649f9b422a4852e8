/// Limits on what needs communicators of the MPI's own.
#pragma once

#include <atomic>
#include <utility>

#include "core/types.hpp"
#include "run/mpi/exchange.hpp"

namespace tutti {

/// Room for one of at most `most` owners of a kind in this process: MPIs have some 2,000
/// communicators, and programs may use nearly all of them.
template <class Kind, int most>
class Limited : NotCopied {
 public:
  ~Limited() { take(false); }
  [[nodiscard]] static bool has_room() { return taken_ < most; }
  /// Takes the room, or gives it back.
  void take(bool takes) { taken_ += int{takes} - int{std::exchange(is_taken_, takes)}; }
  /// If all ranks have room, takes it and calls `create`, which returns an MPI error code. Sets
  /// `ready` to whether all ranks could; if not, or if this exchange fails, calls `undo` with this
  /// rank's code. Collective over `comm`. Returns an MPI error code, of the exchanges alone.
  template <class Create, class Undo>
  int create(MPI_Comm comm, bool& ready, Create create, Undo undo) {
    if (const int error = true_on_all(comm, has_room(), ready); !ready) return error;
    const int own = create();
    const int error = true_on_all(comm, own == MPI_SUCCESS, ready);
    take(ready);
    if (!ready) undo(own);
    return error;
  }

 private:
  inline static std::atomic<int> taken_ = 0;
  bool is_taken_ = false;
};

}  // namespace tutti
