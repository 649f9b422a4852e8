/// Opening and comparing.
#include "api/tuning_clock.hpp"

#include <atomic>
#include <cmath>
#include <utility>

#include "api/communicator.hpp"
#include "api/hierarchical_nodes.hpp"
#include "run/arrival/mpi_arrival.hpp"
#include "run/mpi/exchange.hpp"

namespace tutti {

namespace {

std::atomic<Nanoseconds> latest_of_node = 500'000;

/// In nanoseconds, guesses: a communicator, and what each rank adds.
constexpr double duplicate = 1e6;
constexpr double one_rank = 1e3;
/// What comparing again may take of the time in a collective.
constexpr double share = 0.01;

}  // namespace

const MpiClock* TuningClock::clock() const {
  const auto& arrival = communicator_.arrival();
  if (arrival != nullptr) return &arrival->clock();
  return own_ ? &*own_ : nullptr;
}

Nanoseconds TuningClock::cost_of_node() { return latest_of_node; }

std::optional<double> TuningClock::cost(Nanoseconds of_node) const {
  if (clock() != nullptr || is_refused_) return {};
  const int others = nodes_.guessed().count() - 1;
  const double nodes = others == 0 ? 0 : duplicate + static_cast<double>(of_node) * others;
  return nodes + one_rank * communicator_.p();
}

int TuningClock::open() {
  const MPI_Comm program = communicator_.handle();
  const int others = nodes_.guessed().count() - 1;
  bool is_ready = false;
  const bool has_room = others == 0 || limited_.has_room();
  if (const int error = true_on_all(program, has_room, is_ready)) return error;
  const double began = monotonic_seconds();  // all ranks are here
  MpiClock opened;
  if (is_ready) {
    if (const int error = opened.synchronise(program, is_ready)) return error;
  }
  is_refused_ = !is_ready;
  if (is_refused_) return MPI_SUCCESS;
  limited_.take(!opened.is_shared());
  own_ = std::move(opened);
  latest_seconds_ = monotonic_seconds() - began;
  if (others > 0) latest_of_node = static_cast<Nanoseconds>(latest_seconds_ * 1e9 / others);
  return MPI_SUCCESS;
}

std::int64_t TuningClock::due(double spent) const {
  const MpiClock* const known = clock();
  const auto number = compared_ + 1;
  const double cost = 1e9 * latest_seconds_ * static_cast<double>(number);
  return known != nullptr && known->is_due() && cost <= share * spent ? number : 0;
}

/// All ranks wait for the last one, so that all are charged with the time. The exchange of arrivals
/// may have ended since the comparison was due, and its clock with it.
int TuningClock::compare(std::int64_t number) {
  if (number <= compared_ || clock() == nullptr) return MPI_SUCCESS;
  compared_ = number;
  const double began = monotonic_seconds();
  const auto& arrival = communicator_.arrival();
  int error = MPI_SUCCESS;
  if (arrival != nullptr) {
    error = arrival->compare_clocks();
  } else {
    MpiClock::Compared compared;
    error = own_->compare(compared);
    if (error == MPI_SUCCESS) own_->adopt(compared);
  }
  bool all = false;
  if (error == MPI_SUCCESS) error = true_on_all(communicator_.handle(), true, all);
  latest_seconds_ = monotonic_seconds() - began;
  return error;
}

void TuningClock::close() {
  if (own_) own_->close();
}

std::optional<Nanoseconds> TuningClock::at(double seconds) const {
  const MpiClock* const known = clock();
  if (known == nullptr) return {};
  return static_cast<Nanoseconds>(std::llround((seconds - known->offset_at(seconds)) * 1e9));
}

Nanoseconds TuningClock::error() const {
  const MpiClock* const known = clock();
  if (known == nullptr) return Tuner::without_clock;
  return static_cast<Nanoseconds>(std::ceil(known->error() * 1e9));
}

}  // namespace tutti
