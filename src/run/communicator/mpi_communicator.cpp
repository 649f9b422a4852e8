/// Makes and frees private communicators, and counts their calls.
#include "run/communicator/mpi_communicator.hpp"

#include <utility>

#include "run/mpi/devices.hpp"
#include "run/mpi/end.hpp"
#include "run/mpi/exchange.hpp"

namespace tutti {

namespace {

/// The largest tag that all ranks know: the attribute of MPI_COMM_WORLD, for its processes.
int max_tag(MPI_Comm comm) {
  void* bound = nullptr;
  int found = 0;
  if (!is_end_of_mpi() && is_of_world(comm)) {
    mpi().Comm_get_attr(mpi().comm_world, MPI_TAG_UB, static_cast<void*>(&bound), &found);
  }
  constexpr int granted = 32767;  // by every MPI
  return found != 0 ? *static_cast<int*>(bound) : granted;
}

}  // namespace

PrivateComm::PrivateComm(OwnedComm comm, const PlanSettings& settings)
    : comm_(std::move(comm)),
      rank_(rank_in(handle())),
      p_(size_of(handle())),
      transport_(handle(), rank_),
      executor_(max_tag(handle())),
      planner_(settings, [this](Protocol protocol) {
        return executor_.run(std::move(protocol), transport());
      }) {}

int PrivateComm::duplicate(MPI_Comm of, const PlanSettings& settings,
                           std::unique_ptr<PrivateComm>& made) {
  OwnedComm comm;
  const int error = OwnedComm::duplicate(of, comm);
  if (error == MPI_SUCCESS) made.reset(new PrivateComm(std::move(comm), settings));
  look_for_devices();
  return error;
}

int PrivateComm::split(MPI_Comm of, bool member, int key, const PlanSettings& settings,
                       std::unique_ptr<PrivateComm>& made) {
  OwnedComm comm;
  const int error = OwnedComm::split(of, member, key, comm);
  if (!comm.is_null()) made.reset(new PrivateComm(std::move(comm), settings));
  return error;
}

PrivateComm::~PrivateComm() { end_receiving(); }

void PrivateComm::end_receiving() {
  // A message to a freed communicator could match one of another communicator.
  const bool stays =
      (async_ && (!async_->settle() || async_->calls().leaves_open())) || has_left_ || is_open_;
  async_.reset();
  leave_used_scratch();
  if (stays) leak();
}

void PrivateComm::receive_unexpected() {
  if (!async_) async_.emplace(transport_, *this);
  async_->expect();
}

void PrivateComm::receive_nothing_unexpected() {
  if (async_) async_->count_call_without();
}

void PrivateComm::begin(MpiCall& call) {
  if (std::exchange(call.begun, true)) return;
  instead_.reset();
  const auto turn = take_turn();
  if (!async_ || async_->calls().enter()) executor_.begin_call();
  if (!std::exchange(is_open_, true)) return;
  has_left_ = true;
  leave_used_scratch();
}

bool PrivateComm::end() {
  leave_used_scratch();
  is_open_ = !executor_.is_done();
  return !is_open_;
}

/// The MPI may still use it after a run that has left messages open.
void PrivateComm::leave_used_scratch() {
  if (!executor_.is_done()) scratch_.leave();
}

std::unique_lock<std::mutex> PrivateComm::take_turn() {
  return async_ ? async_->take_turn() : std::unique_lock<std::mutex>();
}

void PrivateComm::give_up(bool by_all) {
  const auto turn = take_turn();
  if (by_all) is_open_ = false;
  if (async_) async_->calls().give_up();
}

}  // namespace tutti
