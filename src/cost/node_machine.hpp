/// The numbers by which time on a cluster of many-core nodes is modelled.
#pragma once

#include <string>
#include <string_view>

#include "core/result.hpp"
#include "core/types.hpp"
#include "cost/machine.hpp"

namespace tutti {

/// Seconds, and seconds per byte. Between nodes a message takes `latency`; the adapter of a node is
/// shared by all who send at once. The defaults are those of a common cluster with two sockets a
/// node; measured ones are read from a file.
struct NodeMachine {
  double latency = 2.0e-6;            ///< a message without bytes to another node
  double per_byte = 2.0e-10;          ///< the adapter of a node, for all its senders together
  double sender_per_byte = 4.0e-10;   ///< what one sender alone can reach
  double node_gap = 1.0e-7;           ///< least time between two messages of a node
  double local_latency = 5.0e-7;      ///< a message without bytes inside a node
  double local_per_byte = 2.0e-10;    ///< one such message: two copies
  double copy_per_byte = 1.0e-10;     ///< one rank alone, to or from node memory
  double shared_per_byte = 1.5e-11;   ///< all ranks of a node together
  double combine_per_byte = 2.0e-10;  ///< one rank combines two operands
  double signal = 1.0e-7;       ///< until a raised signal is seen; also to look at another one
  double oversubscription = 0;  ///< ranks to a core where this was measured; 0: it was not
  friend bool operator==(const NodeMachine&, const NodeMachine&) = default;
};

/// One "name value" a line as for a Machine, whose files it shares: missing names keep their
/// defaults, unknown ones are ignored. The error names the line.
[[nodiscard]] Result<NodeMachine> node_machine_from_text(std::string_view text);
[[nodiscard]] std::string to_text(const NodeMachine& machine);
/// Both machines of one file. An error also where no line of the text is of either.
struct Machines {
  Machine messages;
  NodeMachine nodes;
};
[[nodiscard]] Result<Machines> machines_from_text(std::string_view text);
/// Which of the numbers would be refused in a text, its value and what is accepted; else empty.
[[nodiscard]] std::string out_of_range(const NodeMachine& machine);
/// A file of both: what they share, latency and per_byte, is that of `machine`.
[[nodiscard]] std::string to_text(const Machine& machine, const NodeMachine& node_machine);

}  // namespace tutti
