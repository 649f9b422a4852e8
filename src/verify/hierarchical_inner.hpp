/// What a collective between nodes does, by its contract: from where to where bytes go.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "schedule/hierarchical_plan.hpp"

namespace tutti {

/// Bytes that the receive end of member `to` gets: combined from the same bytes of all members'
/// send ends where `combines`, else from member `from`.
struct InnerTransfer {
  int from = 0;
  int to = 0;
  bool combines = false;
  Bytes read_at = 0;   ///< in the area of the send end
  Bytes write_at = 0;  ///< in the area of the receive end
  Bytes bytes = 0;
};

/// The members' calls, by node, as transfers; empty where they disagree, and then `fault` says how.
[[nodiscard]] std::vector<InnerTransfer> transfers_of(std::span<const InnerCall* const> members,
                                                      std::string& fault);

}  // namespace tutti
