/// The parameters of the time models.
#pragma once

#include <string>
#include <string_view>

#include "core/result.hpp"
#include "core/types.hpp"

namespace tutti {

/// The parameters of Hockney's model (latency, per_byte) and of LogGP (latency consists of wire
/// latency and two overheads; gap between messages). Seconds and bytes. The defaults are those of a
/// common InfiniBand cluster; measured values come from a file.
struct Machine {
  double latency = 2.0e-6;    ///< alpha: a message without bytes, end to end
  double per_byte = 2.0e-10;  ///< beta, LogGP's G: each further byte
  double overhead = 4.0e-7;   ///< o: a processor sends or receives a message
  double gap = 8.0e-7;        ///< g: minimum time between two messages at one rank
  double polling = 2.0e-5;    ///< o_r: until a polling thread notices a notification
  double serving = 0;         ///< until the target's thread serves a put, if puts need that

  /// n_1/2 = alpha / beta, rounded: the bytes that one start-up could transfer (Hockney).
  [[nodiscard]] Bytes half_performance_length() const {
    return static_cast<Bytes>(latency / per_byte + 0.5);
  }
  friend bool operator==(const Machine&, const Machine&) = default;
};

/// Reads one "name value" per line. # begins a comment; missing names keep their defaults, unknown
/// names are ignored. Implausible numbers, such as a latency of 0.012 s, are errors. The error
/// names the line and the accepted values. Sets `lines` to the number of lines that named a number.
[[nodiscard]] Result<Machine> machine_from_text(std::string_view text, int* lines = nullptr);
/// The first number that machine_from_text() would refuse, with its value and range; else empty.
[[nodiscard]] std::string out_of_range(const Machine& machine);
[[nodiscard]] std::string to_text(const Machine& machine);

}  // namespace tutti
