/// Encodes specifications as numbers.
#include "run/rma/control_message.hpp"

namespace tutti {

RmaAlgorithm to_numbers(const Specification& specification) {
  const Parameters& parameters = specification.parameters;
  return {parameters.carry,
          static_cast<std::int32_t>(specification.algorithm - all_algorithms().data()),
          static_cast<std::int32_t>(specification.order),
          parameters.k,
          parameters.parts,
          parameters.nodes ? 1 : 0,
          static_cast<std::int32_t>(parameters.protocol)};
}

Specification specification_from(const RmaAlgorithm& numbers) {
  Specification specification;
  specification.algorithm = &all_algorithms()[index(numbers.number)];
  specification.order = static_cast<OrderName>(numbers.order);
  specification.parameters.carry = numbers.carry;
  specification.parameters.k = numbers.k;
  specification.parameters.parts = numbers.parts;
  specification.parameters.nodes = numbers.nodes != 0;
  specification.parameters.protocol = static_cast<Notifications>(numbers.protocol);
  return specification;
}

}  // namespace tutti
