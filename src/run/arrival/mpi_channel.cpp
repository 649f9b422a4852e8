/// Control messages over MPI: keeps one receive from any rank posted, and each send until it
/// completes.
#include <list>
#include <utility>

#include "run/arrival/mpi_arrival.hpp"
#include "run/mpi/owned_comm.hpp"

namespace tutti {

namespace {

constexpr int tag = 1;

int bytes_of(const std::vector<std::int64_t>& words) {
  return static_cast<int>(words.size() * sizeof(std::int64_t));
}

/// A channel on its own duplicate of a communicator, apart from the messages of collectives. Only
/// open() waits for other ranks. Functions return an MPI error code.
class MpiChannel final : public ControlChannel {
 public:
  explicit MpiChannel(std::size_t longest) : incoming_(longest) {}
  ~MpiChannel() override {
    for (ControlMessage& message : leaving_) mpi().Request_free(&message.request);
    // After an error the MPI may still read what it has not sent.
    if (!leaving_.empty()) static_cast<void>(new std::list<ControlMessage>(std::move(leaving_)));
    if (listening_ == mpi().request_null) return;
    mpi().Cancel(&listening_);
    mpi().Request_free(&listening_);
  }

  int open(MPI_Comm of) {
    const int error = OwnedComm::duplicate(of, comm_);
    return error == MPI_SUCCESS ? listen() : error;
  }

  int send(Rank to, ControlWords words) override {
    ControlMessage& message = leaving_.emplace_back(ControlMessage{std::move(words), {}});
    const int error = mpi().Isend(message.words->data(), bytes_of(*message.words), mpi().byte, to,
                                  tag, comm_.handle(), &message.request);
    if (error == MPI_SUCCESS) return forget_what_has_left();
    leaving_.pop_back();
    return error;
  }

  int receive(Rank& from, std::vector<std::int64_t>& words) override {
    words.clear();
    int arrived = 0;
    MPI_Status status{};
    if (const int error = mpi().Test(&listening_, &arrived, &status)) return error;
    if (arrived == 0) return forget_what_has_left();
    int bytes = 0;
    if (const int error = mpi().Get_count(&status, mpi().byte, &bytes)) return error;
    from = status.MPI_SOURCE;
    const auto count =
        static_cast<std::ptrdiff_t>(static_cast<std::size_t>(bytes) / sizeof words[0]);
    words.assign(incoming_.begin(), incoming_.begin() + count);
    return listen();
  }

  [[nodiscard]] bool is_empty() const override { return leaving_.empty(); }

 private:
  struct ControlMessage {
    ControlWords words;
    MPI_Request request;
  };

  int listen() {
    return mpi().Irecv(incoming_.data(), bytes_of(incoming_), mpi().byte, MPI_ANY_SOURCE, tag,
                       comm_.handle(), &listening_);
  }

  int forget_what_has_left() {
    while (!leaving_.empty()) {
      int has_left = 0;
      const int error = mpi().Test(&leaving_.front().request, &has_left, MPI_STATUS_IGNORE);
      if (error == MPI_SUCCESS && has_left == 0) return MPI_SUCCESS;
      leaving_.pop_front();
      if (error != MPI_SUCCESS) return error;
    }
    return MPI_SUCCESS;
  }

  OwnedComm comm_;
  std::vector<std::int64_t> incoming_;
  MPI_Request listening_ = mpi().request_null;
  std::list<ControlMessage> leaving_;
};

}  // namespace

int open_channel(MPI_Comm of, std::size_t longest, std::unique_ptr<ControlChannel>& made) {
  auto channel = std::make_unique<MpiChannel>(longest);
  if (const int error = channel->open(of)) return error;
  made = std::move(channel);
  return MPI_SUCCESS;
}

}  // namespace tutti
