/// What the preloaded library and the C API read of a communicator at each call.
#pragma once

#include "api/call_state.hpp"

namespace tutti {

class Communicator;

/// A communicator's record of calls that pass. Its memory serves another communicator afterwards.
class PassingRecord {
 public:
  PassingRecord();
  ~PassingRecord();
  PassingRecord(const PassingRecord&) = delete;
  PassingRecord& operator=(const PassingRecord&) = delete;

  [[nodiscard]] tutti_passing& get() { return *record_; }
  /// Begins to stand for a communicator.
  void set(MPI_Comm comm, Communicator* owner);
  /// Puts it among those of late. Settings that change afterwards remove it from there.
  void remember();

 private:
  tutti_passing* record_;
};

}  // namespace tutti
