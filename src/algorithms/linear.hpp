/// Linear gathers, scatters and broadcasts: the root and each other rank exchange one message.
#pragma once

#include "core/problem.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

/// The root's p - 1 messages are all in flight at once, or one after the other if `in_sequence`.
[[nodiscard]] Schedule linear(const Problem& problem, bool in_sequence);

/// A rank announces its arrival to the root with a message without bytes and posts its data message
/// at once. The root posts its side after the announcement, with at most `flight` messages in
/// flight. Ranks without bytes to exchange do not announce themselves.
[[nodiscard]] Schedule linear_pull(const Problem& problem);

/// A rank that receives posts the first segment of a block and signals its sender, which then sends
/// that segment and the rest. The root serves one rank after the other and goes on after the first
/// segment, so two transfers overlap. Ranks without bytes to exchange neither signal nor wait.
[[nodiscard]] Schedule linear_sync(const Problem& problem);

}  // namespace tutti
