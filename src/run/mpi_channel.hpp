/// Short messages of whole words between any ranks, beside the collectives' own.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "run/mpi_communicator.hpp"

namespace tutti {

/// On a communicator of its own. Nothing here waits for anybody but open(). All functions return
/// an MPI error code. Not to be used by two threads at once.
class MpiChannel {
 public:
  /// Collective. No message is longer than `longest` words.
  static int open(MPI_Comm of, std::size_t longest, std::unique_ptr<MpiChannel>& made);
  ~MpiChannel();
  MpiChannel(const MpiChannel&) = delete;
  MpiChannel& operator=(const MpiChannel&) = delete;

  /// What cannot be sent is tried again later, here or in receive().
  int send(Rank to, std::vector<std::int64_t> words);
  /// Puts the next message into `words`, which is empty if there is none yet. May fail and bring a
  /// message all the same, and can be called again.
  int receive(Rank& from, std::vector<std::int64_t>& words);
  /// Everything that was sent has left this rank's memory, as far as receive() has noticed.
  [[nodiscard]] bool is_empty() const { return leaving_.empty(); }

 private:
  struct Letter {
    Rank to;
    std::vector<std::int64_t> words;
    MPI_Request request;
    bool is_posted;
  };

  explicit MpiChannel(std::size_t longest) : incoming_(longest) {}
  int listen();
  int post();
  int forget_what_has_left();

  std::unique_ptr<PrivateComm> comm_;
  std::vector<std::int64_t> incoming_;
  MPI_Request listening_ = mpi().request_null;
  std::list<Letter> leaving_;
};

}  // namespace tutti
