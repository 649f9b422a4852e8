/// The rules and the links between nodes that this process knows, and what it keeps for later runs.
#pragma once

#include <string>
#include <vector>

#include "select/learned.hpp"
#include "topology/node_links.hpp"

namespace tutti {

struct KnownRules {
  Rules rules;                        ///< of all files, in the sequence of rule_files
  Rules kept;                         ///< those of earlier runs, with TUTTI_LEARN=keep
  std::string error;                  ///< why the file that TUTTI_RULES names cannot be used
  std::vector<std::string> warnings;  ///< a line for each other file that is ignored
};

/// The MPI and the network of this process, by which rules and what was learned are looked up. Read
/// at the first call.
[[nodiscard]] const Platform& platform();

/// Read at the first call, by rank 0 of a communicator only.
[[nodiscard]] const KnownRules& known_rules();

/// The rules that earlier runs kept for communicators of `p` ranks, as a text; empty if there are
/// none. For rank 0 of a communicator.
[[nodiscard]] std::string kept_rules(int p);

/// Does this process keep what it learns? Rank 0 of MPI_COMM_WORLD does so with TUTTI_LEARN=keep.
/// Call it while MPI runs.
[[nodiscard]] bool keeps_rules();
/// Notes what a communicator that ends has learned. For any thread.
void note_learned(const Rules& learned);

/// What is known of the links between these nodes (ascending names, all different): what this
/// process has noted and, with TUTTI_LEARN=keep, what earlier runs have kept. The first call reads
/// the file; if that is invalid, it says so on standard error. For rank 0 of a communicator, while
/// MPI runs, in any thread.
[[nodiscard]] NodeLinks known_links(const std::vector<std::string>& nodes);
/// Notes links that rank 0 of a communicator has measured. For any thread, after known_links().
void note_links(const std::vector<std::string>& nodes, const NodeLinks& measured);

/// Writes what was noted into the files, together with what other programs have kept there since. A
/// failure is one line on standard error.
void write_kept();

}  // namespace tutti
