/// Opening and comparing.
#include "api/tuning_clock.hpp"

#include <atomic>
#include <cmath>

#include "api/communicator.hpp"
#include "api/hierarchical_nodes.hpp"
#include "run/mpi/exchange.hpp"

namespace tutti {

namespace {

/// The limit on clocks at a time, as each needs a communicator of the MPI's own.
constexpr int max_clocks = 64;
std::atomic<int> clocks = 0;

/// In nanoseconds, guesses: a communicator, the comparison with one node, and what each further
/// rank adds.
constexpr double duplicate = 1e6;
constexpr double one_node = 5e5;
constexpr double one_rank = 1e3;

}  // namespace

TuningClock::~TuningClock() {
  if (own_) --clocks;
}

const MpiClock* TuningClock::clock() const {
  const auto& arrival = communicator_.arrival();
  if (arrival != nullptr) return &arrival->clock();
  return own_ ? &*own_ : nullptr;
}

std::optional<double> TuningClock::cost() const {
  if (clock() != nullptr || is_refused_) return {};
  const int others = nodes_.guessed().count() - 1;
  const double nodes = others == 0 ? 0 : duplicate + one_node * others;
  return nodes + one_rank * communicator_.p();
}

int TuningClock::open() {
  const MPI_Comm program = communicator_.handle();
  bool may_open = false;
  if (const int error = true_on_all(program, clocks < max_clocks, may_open)) return error;
  is_refused_ = !may_open;
  if (is_refused_) return MPI_SUCCESS;
  MpiClock opened;
  if (const int error = opened.synchronise(program)) return error;
  own_ = std::move(opened);
  ++clocks;
  return MPI_SUCCESS;
}

int TuningClock::compare() {
  MpiClock::Compared compared;
  const int error = own_->compare(compared);
  if (error == MPI_SUCCESS) own_->adopt(compared);
  return error;
}

void TuningClock::close() {
  if (own_) own_->close();
}

std::optional<Nanoseconds> TuningClock::at(double seconds) const {
  const MpiClock* const known = clock();
  if (known == nullptr) return {};
  return static_cast<Nanoseconds>(std::llround((seconds - known->offset()) * 1e9));
}

Nanoseconds TuningClock::error() const {
  const MpiClock* const known = clock();
  if (known == nullptr) return Tuner::without_clock;
  return static_cast<Nanoseconds>(std::ceil(known->error() * 1e9));
}

}  // namespace tutti
