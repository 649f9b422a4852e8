/// The interface of protocols by which ranks acquire knowledge; it leaves out the transport.
#pragma once

#include <cstdint>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// One step of a protocol: all its messages are in flight at once.
struct Exchange {
  struct Message {
    Rank peer = no_rank;
    int tag = 0;
    std::vector<std::int64_t> words;  ///< a received message comes with its length set
  };
  std::vector<Message> sends;
  std::vector<Message> recvs;

  [[nodiscard]] bool empty() const { return sends.empty() && recvs.empty(); }
};

/// One rank's side of a protocol. The caller moves the messages: by MPI, by threads or in a test.
class Protocol {
 public:
  virtual ~Protocol() = default;
  /// Takes a completed exchange (an empty one at first) and replaces it by the next one.
  /// False when this rank has nothing more to exchange.
  virtual bool next(Exchange& exchange) = 0;
};

}  // namespace tutti
