/// Linear gathers, scatters and broadcasts: the root and each other rank exchange one message.
#pragma once

#include "core/problem.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

/// Which way data go between the root and the others.
enum class Towards : std::uint8_t { root, others };

/// The root's p - 1 messages are in flight at once, or in sequence one after the other.
[[nodiscard]] Schedule linear(const Problem& problem, Towards towards, bool in_sequence);

/// A rank that has come announces itself with a message without bytes, and its own message depends
/// on nothing else. The root has at most `flight` messages under way at once. Ranks that have no
/// bytes to exchange do not announce themselves.
[[nodiscard]] Schedule linear_pull(const Problem& problem, Towards towards);

}  // namespace tutti
