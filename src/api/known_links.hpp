/// The links between nodes that this process has measured, and those that earlier runs have kept.
#pragma once

#include <string>
#include <vector>

#include "topology/node_links.hpp"

namespace tutti {

/// What is known of the links between these nodes (ascending names, all different): what this
/// process has noted and, with TUTTI_LEARN=keep, what earlier runs have kept. The first call reads
/// the file; if that is invalid, it says so on standard error. For rank 0 of a communicator, while
/// MPI runs, in any thread.
[[nodiscard]] NodeLinks known_links(const std::vector<std::string>& nodes);

/// Notes links that rank 0 of a communicator has measured. For any thread, after known_links().
void note_links(const std::vector<std::string>& nodes, const NodeLinks& measured);

/// Writes what was noted into the file, together with what other programs have kept there since, if
/// this process keeps what it learns (see keeps_rules()). A failure is one line on standard error.
void write_kept_links();

}  // namespace tutti
