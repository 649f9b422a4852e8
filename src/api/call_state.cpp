/// Records of calls that pass, whose memory other threads may read at any time.
#include "api/call_state.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <mutex>
#include <vector>

#include "run/mpi/types.hpp"
#include "run/process.hpp"

namespace tutti {

namespace {

/// All records that there ever were; those of freed communicators are free.
struct PassingRecords {
  std::mutex mutex;
  std::deque<tutti_passing> all;
  std::vector<tutti_passing*> free;
};

}  // namespace

PassingRecord::PassingRecord() {
  PassingRecords& records = of_process<PassingRecords>();
  const std::lock_guard lock(records.mutex);
  if (records.free.empty()) {
    records.free.reserve(records.all.size() + 1);  // to free one never fails
    records.all.push_back(TUTTI_NO_PASSING);
    records.all.back().bits = std::numeric_limits<HandleNumber>::max();
    records.free.push_back(&records.all.back());
  }
  record_ = records.free.back();
  records.free.pop_back();
}

PassingRecord::~PassingRecord() {
  __atomic_store_n(&record_->comm, std::uintptr_t{tutti_no_comm}, __ATOMIC_RELEASE);
  std::ranges::fill(record_->left, 0);
  PassingRecords& records = of_process<PassingRecords>();
  const std::lock_guard lock(records.mutex);
  records.free.push_back(record_);
}

void PassingRecord::set(MPI_Comm comm, Communicator* owner) {
  record_->owner = owner;
  __atomic_store_n(&record_->comm, handle_bits(comm), __ATOMIC_RELEASE);
}

void PassingRecord::remember() {
  tutti_passing** const place = tutti_recent_place(this_process.recent.load(), record_->comm);
  __atomic_store_n(place, record_, __ATOMIC_SEQ_CST);
}

}  // namespace tutti
