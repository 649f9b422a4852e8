/// The numbers by which time is modelled.
#pragma once

#include <string>
#include <string_view>

#include "core/result.hpp"
#include "core/types.hpp"

namespace tutti {

/// A machine in the terms of Hockney (latency, per_byte) and LogGP (latency split into wire
/// latency and overhead, gap between messages). Seconds and bytes. The defaults are those of a
/// common InfiniBand cluster; measured ones are read from a file.
struct Machine {
  double latency = 2.0e-6;    ///< alpha: a message without bytes, end to end
  double per_byte = 2.0e-10;  ///< beta, LogGP's G: each further byte
  double overhead = 4.0e-7;   ///< o: a processor is busy with sending or receiving a message
  double gap = 8.0e-7;        ///< g: least time between two messages at one rank
  double polling = 2.0e-5;    ///< o_r: until a thread that polls has seen a notification
  double serving = 0;         ///< the same of a put that waits for its target's thread

  /// alpha / beta, rounded: the bytes that could pass during one start-up.
  [[nodiscard]] Bytes half_performance_length() const {
    return static_cast<Bytes>(latency / per_byte + 0.5);
  }
  friend bool operator==(const Machine&, const Machine&) = default;
};

/// One "name value" a line, # begins a comment; missing names keep their defaults, unknown ones
/// are ignored. The error names the line and what is accepted: no number that no machine has, such
/// as a message of 0.012 s or a byte of 1e-12 s. `lines` is set to how many named a number of it.
[[nodiscard]] Result<Machine> machine_from_text(std::string_view text, int* lines = nullptr);
/// Which of the numbers would be refused in a text, its value and what is accepted; else empty.
[[nodiscard]] std::string out_of_range(const Machine& machine);
[[nodiscard]] std::string to_text(const Machine& machine);

}  // namespace tutti
