/// Lists the transfers of a collective between nodes, by its contract.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lowering/inner_call.hpp"

namespace tutti {

/// Bytes that member `to` receives from member `from`. With `combines`, consecutive transfers to
/// the same member are combined in sequence.
struct InnerTransfer {
  int from = 0;
  int to = 0;
  bool combines = false;
  Bytes read_at = 0;   ///< in the area of the send buffer
  Bytes write_at = 0;  ///< in the area of the receive buffer
  Bytes bytes = 0;
};

/// The transfers of the members' calls, by node; empty if members disagree, and then `fault` names
/// the difference.
[[nodiscard]] std::vector<InnerTransfer> transfers_of(std::span<const InnerCall* const> members,
                                                      std::string& fault);

}  // namespace tutti
