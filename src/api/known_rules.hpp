/// The rules that this process knows from files, and those that its tuners keep for later runs.
#pragma once

#include <string>
#include <vector>

#include "select/learned.hpp"

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
/// Writes what was noted into the file, together with what other programs have kept there since. A
/// failure is one line on standard error.
void write_kept_rules();

}  // namespace tutti
