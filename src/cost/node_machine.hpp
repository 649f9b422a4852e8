/// The parameters that model a cluster of many-core nodes.
#pragma once

#include <string>
#include <string_view>

#include "core/result.hpp"
#include "core/types.hpp"
#include "cost/machine.hpp"

namespace tutti {

/// Parameters in seconds, and seconds per byte. Ranks that send to other nodes at once share the
/// adapter of their node. The defaults are those of a common cluster with two sockets a node; a
/// file provides measured ones.
struct NodeMachine {
  double latency = 2.0e-6;            ///< a message without bytes to another node
  double per_byte = 2.0e-10;          ///< the adapter of a node, for all its senders together
  double sender_per_byte = 4.0e-10;   ///< one sender alone
  double node_gap = 1.0e-7;           ///< least time between two messages of a node
  double local_latency = 5.0e-7;      ///< a message without bytes inside a node
  double local_per_byte = 2.0e-10;    ///< such a message, which takes two copies
  double copy_per_byte = 1.0e-10;     ///< one rank alone, to or from node memory
  double shared_per_byte = 1.5e-11;   ///< all ranks of a node together
  double combine_per_byte = 2.0e-10;  ///< one rank combines two operands
  double signal = 1.0e-7;             ///< until a raised signal is seen; also to check another one
  friend bool operator==(const NodeMachine&, const NodeMachine&) = default;
};

/// Parses one "name value" a line, in files shared with Machine: missing names keep their defaults,
/// unknown ones are ignored. The error names the line.
[[nodiscard]] Result<NodeMachine> node_machine_from_text(std::string_view text);
[[nodiscard]] std::string to_text(const NodeMachine& machine);
/// Both machines of one file. Parsing fails if no line names a parameter of either.
struct Machines {
  Machine messages;
  NodeMachine nodes;
};
[[nodiscard]] Result<Machines> machines_from_text(std::string_view text);
/// The parameter that a text could not have, with its value and the accepted range; empty if all
/// are valid.
[[nodiscard]] std::string out_of_range(const NodeMachine& machine);
/// Writes a file of both; their common latency and per_byte are those of `machine`.
[[nodiscard]] std::string to_text(const Machine& machine, const NodeMachine& node_machine);

}  // namespace tutti
