/// Closed forms under LogP and LogGP.
#include "cost/one_sided.hpp"

#include <algorithm>
#include <bit>

namespace tutti {

namespace {

/// The time until all three messages of a request have arrived.
double request(Bytes bytes, const Machine& machine, PriceModel model) {
  const double body = model == PriceModel::loggp
                          ? machine.per_byte * static_cast<double>(std::max<Bytes>(bytes - 1, 0))
                          : 0;
  return machine.overhead + body + 2 * std::max(machine.overhead, machine.gap);
}

double wire(const Machine& machine) { return machine.latency - 2 * machine.overhead; }

double stages(int p) { return std::bit_width(static_cast<unsigned>(p - 1)); }

}  // namespace

double rma_binomial_seconds(int p, Bytes bytes, const Machine& machine, PriceModel model) {
  const double stage = request(bytes, machine, model) + wire(machine) + machine.polling;
  return stage * stages(p) + machine.overhead + wire(machine);
}

double rma_ascending_seconds(int p, Bytes bytes, const Machine& machine, PriceModel model) {
  const double served = request(bytes, machine, model) + 2 * wire(machine);
  return rma_binomial_seconds(p, bytes, machine, model) + served * stages(p) * (stages(p) - 1) / 2;
}

}  // namespace tutti
