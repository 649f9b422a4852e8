/// Control messages over MPI: keeps one receive from any rank posted.
#include <utility>

#include "run/arrival/mpi_arrival.hpp"
#include "run/mpi/exchange.hpp"
#include "run/mpi/owned_comm.hpp"
#include "run/process.hpp"

namespace tutti {

namespace {

constexpr int tag = 1;

std::size_t bytes_of(const std::vector<std::int64_t>& words) {
  return words.size() * sizeof words[0];
}

/// A channel on its own duplicate of a communicator, apart from the messages of collectives. Only
/// open() waits for other ranks. Functions return an MPI error code.
class MpiChannel final : public ControlChannel {
 public:
  explicit MpiChannel(std::size_t longest) : incoming_(longest) {}
  ~MpiChannel() override {
    const bool listens = listening_ != mpi().request_null;
    if (listens && !cancel_receive(listening_)) leak(incoming_);
  }

  int open(MPI_Comm of) {
    const int error = OwnedComm::duplicate(of, comm_);
    return error == MPI_SUCCESS ? listen() : error;
  }

  int send(Rank to, ControlWords words) override {
    const void* const data = words->data();
    const std::size_t bytes = bytes_of(*words);
    const int error = sent_.send({std::move(words), data}, bytes, to, tag, comm_.handle());
    return error == MPI_SUCCESS ? sent_.forget_sent() : error;
  }

  int receive(Rank& from, std::vector<std::int64_t>& words) override {
    words.clear();
    words.reserve(incoming_.size());  // memory must not end once a message has come
    int arrived = 0;
    MPI_Status status{};
    if (const int error = mpi().Test(&listening_, &arrived, &status)) return error;
    if (arrived == 0) return sent_.forget_sent();
    int bytes = 0;
    if (const int error = mpi().Get_count(&status, mpi().byte, &bytes)) return error;
    from = status.MPI_SOURCE;
    const auto count =
        static_cast<std::ptrdiff_t>(static_cast<std::size_t>(bytes) / sizeof words[0]);
    words.assign(incoming_.begin(), incoming_.begin() + count);
    return listen();
  }

  [[nodiscard]] bool is_empty() const override { return sent_.empty(); }

 private:
  int listen() {
    return mpi().Irecv(incoming_.data(), static_cast<int>(bytes_of(incoming_)), mpi().byte,
                       MPI_ANY_SOURCE, tag, comm_.handle(), &listening_);
  }

  OwnedComm comm_;
  std::vector<std::int64_t> incoming_;
  MPI_Request listening_ = mpi().request_null;
  SentMessages sent_;
};

}  // namespace

int open_channel(MPI_Comm of, std::size_t longest, std::unique_ptr<ControlChannel>& made) {
  auto channel = std::make_unique<MpiChannel>(longest);
  if (const int error = channel->open(of)) return error;
  made = std::move(channel);
  return MPI_SUCCESS;
}

}  // namespace tutti
