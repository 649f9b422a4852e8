/// Selects by the model, the distances and the delays of ranks.
#include <algorithm>
#include <bit>

#include "algorithms/problem_maker.hpp"
#include "api/communicator.hpp"
#include "api/rma.hpp"
#include "select/selection.hpp"

namespace tutti {

namespace {

int bits_of(std::int64_t value) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value)));
}

}  // namespace

int RmaComm::open(const Communicator& communicator, std::shared_ptr<RmaComm>& made) {
  const std::shared_ptr<RmaComm> opened(
      new RmaComm(communicator.handle(), communicator.agreed().id));
  const Setting setting = setting_in_force(Collective::rma_bcast);
  const bool wants_windows = setting.kind == Setting::Kind::forced &&
                             setting.specification.parameters.protocol == Notifications::windows;
  int error =
      RmaSystem::open(opened->comm_, communicator.node_settings(), wants_windows, opened->system_);
  if (error != MPI_SUCCESS) return error;
  error = DistanceOrders::open(opened->system().comm(), environment().machine, known_distances(),
                               opened->distances_);
  if (error == MPI_SUCCESS) error = opened->distances_->let_all_find();
  if (error == MPI_SUCCESS) made = opened;
  return error;
}

Choice RmaComm::choose(Collective collective, Bytes bytes) {
  const Setting setting = setting_in_force(collective);
  if (setting.kind == Setting::Kind::forced) return {setting, "requested"};
  const int bits = bits_of(bytes);
  const int patience = bits_of(system_->expected_wait().count()) / 2;
  const std::lock_guard lock(mutex_);
  Choice& known = choices_[{collective, bits, patience}];
  if (known.reason.empty()) {
    // The middle of the sizes with as many bits stands for all of them.
    const Features features{collective, system_->p(), Bytes{3} << bits >> 2};
    Machine machine = environment().machine;
    const double wait = 1e-6 * static_cast<double>(std::int64_t{1} << (2 * patience));
    machine.polling = std::max(machine.polling, wait);
    if (!system_->progresses()) machine.serving = machine.polling;
    known = choose_one_sided(features, machine, &system_->nodes());
  }
  return known;
}

std::vector<Rank> RmaComm::order_for(const Specification& specification, Bytes bytes) {
  if (specification.order == OrderName::natural || specification.order == OrderName::rotated) {
    return {};
  }
  std::vector<Rank> rank_order;
  if (specification.needs_distances()) {
    const std::lock_guard lock(mutex_);
    rank_order = distances_->found_alone(specification, system_->rank(), bytes);
  }
  const std::vector<double> delays = system_->delays();
  return order_of(specification, system_->p(), system_->rank(), {nullptr, &delays, &rank_order})
      .ranks();
}

}  // namespace tutti
