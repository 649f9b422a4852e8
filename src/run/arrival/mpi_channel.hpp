/// Control messages over MPI, apart from the messages of collectives.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "run/arrival/message_queue.hpp"
#include "run/mpi/owned_comm.hpp"

namespace tutti {

/// A channel on its own duplicate of a communicator. Only open() waits for other ranks. Functions
/// return an MPI error code.
class MpiChannel final : public ControlChannel {
 public:
  /// Collective. No message is longer than `longest` words.
  static int open(MPI_Comm of, std::size_t longest, std::unique_ptr<MpiChannel>& made);
  ~MpiChannel() override;

  int send(Rank to, ControlWords words) override;
  int receive(Rank& from, std::vector<std::int64_t>& words) override;
  [[nodiscard]] bool is_empty() const override { return leaving_.empty(); }

 private:
  struct ControlMessage {
    ControlWords words;
    MPI_Request request;
  };

  explicit MpiChannel(std::size_t longest) : incoming_(longest) {}
  int listen();
  int forget_what_has_left();

  OwnedComm comm_;
  std::vector<std::int64_t> incoming_;
  MPI_Request listening_ = mpi().request_null;
  std::list<ControlMessage> leaving_;
};

}  // namespace tutti
