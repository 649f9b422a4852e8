/// Shared results with numbers that tell their origin.
#pragma once

#include <vector>

#include "exchange.hpp"

namespace tutti::test {

/// The numbers of a rank, which another salt changes.
std::vector<int> numbers(int rank, int count, int salt);

/// Whether a result has the numbers of all ranks, one block after the other.
bool holds(const void* result, const std::vector<int>& counts, int salt);

/// Gathers `count` numbers of each rank into a shared result, and examines it.
void* allgather(Context& context, const OwnComm& comm, int count, int salt, int mode);

}  // namespace tutti::test
