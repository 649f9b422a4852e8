/// Encodes specifications as words.
#include "run/rma/control_message.hpp"

#include <algorithm>

namespace tutti {

namespace {

constexpr int carry_bits = 16;
/// Stands for all_carried.
constexpr Bytes unbounded = (Bytes{1} << carry_bits) - 1;
static_assert(max_carried < unbounded);

}  // namespace

std::int64_t to_word(const Specification& specification) {
  const auto algorithm = specification.algorithm - all_algorithms().data();
  const auto& parameters = specification.parameters;
  std::int64_t word = algorithm;
  word = word << 4 | static_cast<std::int64_t>(specification.order);
  word = word << 16 | std::min(parameters.k, 0xFFFF);
  word = word << 16 | std::min(parameters.parts, 0xFFFF);
  word = word << 1 | (parameters.nodes ? 1 : 0);
  word = word << 1 | static_cast<std::int64_t>(parameters.protocol);
  return word << carry_bits | std::min(parameters.carry, unbounded);
}

Specification specification_from(std::int64_t word) {
  const auto take = [&](int bits) {
    const std::int64_t taken = word & ((std::int64_t{1} << bits) - 1);
    word >>= bits;
    return taken;
  };
  Specification specification;
  const Bytes carry = take(carry_bits);
  specification.parameters.carry = carry == unbounded ? all_carried : carry;
  specification.parameters.protocol = static_cast<Notifications>(take(1));
  specification.parameters.nodes = take(1) != 0;
  specification.parameters.parts = static_cast<int>(take(16));
  specification.parameters.k = static_cast<int>(take(16));
  specification.order = static_cast<OrderName>(take(4));
  specification.algorithm = &all_algorithms()[static_cast<std::size_t>(word)];
  return specification;
}

}  // namespace tutti
