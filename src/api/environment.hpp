/// The user's settings in environment variables (listed in select/settings.inc).
#pragma once

#include <cstdint>

#include "api/settings_reader.hpp"

namespace tutti {

/// Read once, at the first call.
[[nodiscard]] const Environment& environment();

/// Writes errors of the settings to standard error, and all settings if TUTTI_VERBOSE is on, once
/// in a process. Returns a number that is the same for equal settings. For rank 0 of a
/// communicator.
std::uint64_t report_environment();
/// A rank 0 whose settings have this number has written the messages: this process omits them.
void suppress_environment_report(std::uint64_t by_rank_0);

}  // namespace tutti
