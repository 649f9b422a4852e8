/// The parameters of the time models.
#pragma once

#include <string>
#include <string_view>

#include "core/result.hpp"
#include "core/types.hpp"

namespace tutti {

/// The parameters of Hockney's model (latency, per_byte), of LogGP (latency consists of wire
/// latency and two overheads; gap between messages), and of a cluster of many-core nodes, whose
/// ranks share the adapter of their node when they send to other nodes at once. Seconds, bytes, and
/// seconds per byte. The defaults are those of a common InfiniBand cluster with two sockets a node;
/// measured values come from a file.
struct Machine {
  double latency = 2.0e-6;    ///< alpha: a message without bytes to another node, end to end
  double per_byte = 2.0e-10;  ///< beta, LogGP's G: each further byte; of a node's senders together
  double overhead = 4.0e-7;   ///< o: a processor sends or receives a message
  double gap = 8.0e-7;        ///< g: minimum time between two messages at one rank
  double polling = 2.0e-5;    ///< o_r: until a polling thread notices a notification
  double serving = 0;         ///< until the target's thread serves a put, if puts need that
  double sender_per_byte = 4.0e-10;   ///< one sender alone, to another node
  double node_gap = 1.0e-7;           ///< least time between two messages of a node
  double local_latency = 5.0e-7;      ///< a message without bytes inside a node
  double local_per_byte = 2.0e-10;    ///< such a message, which takes two copies
  double copy_per_byte = 1.0e-10;     ///< one rank alone, to or from node memory
  double shared_per_byte = 1.5e-11;   ///< all ranks of a node together
  double combine_per_byte = 2.0e-10;  ///< one rank combines two operands
  double signal = 1.0e-7;             ///< until a raised signal is seen; also to check another one

  /// n_1/2 = alpha / beta, rounded: the bytes that one start-up could transfer (Hockney).
  [[nodiscard]] Bytes half_performance_length() const {
    return static_cast<Bytes>(latency / per_byte + 0.5);
  }
  friend bool operator==(const Machine&, const Machine&) = default;
};

/// Reads one "name value" per line. # begins a comment; missing names keep their defaults, unknown
/// names are ignored, and the last line of a name counts. Implausible numbers, such as a latency of
/// 0.012 s, are errors. The error names the line and the accepted values. Fails also if no line
/// names a parameter.
[[nodiscard]] Result<Machine> machine_from_text(std::string_view text);

/// The first number that a text could not have, with its value and range; else empty. Accepts 0,
/// which means unknown.
[[nodiscard]] std::string out_of_range(const Machine& machine);

/// Writes a file, without parameters that are unknown.
[[nodiscard]] std::string to_text(const Machine& machine);

}  // namespace tutti
