/// Keeps one receive from any rank posted, and each send until it completes.
#include "run/arrival/mpi_channel.hpp"

#include <utility>

namespace tutti {

namespace {

constexpr int tag = 1;

int bytes_of(const std::vector<std::int64_t>& words) {
  return static_cast<int>(words.size() * sizeof(std::int64_t));
}

}  // namespace

int MpiChannel::open(MPI_Comm of, std::size_t longest, std::unique_ptr<MpiChannel>& made) {
  std::unique_ptr<MpiChannel> channel(new MpiChannel(longest));
  if (const int error = OwnedComm::duplicate(of, channel->comm_)) return error;
  if (const int error = channel->listen()) return error;
  made = std::move(channel);
  return MPI_SUCCESS;
}

MpiChannel::~MpiChannel() {
  for (ControlMessage& message : leaving_) mpi().Request_free(&message.request);
  // After an error the MPI may still read what it has not sent.
  if (!leaving_.empty()) static_cast<void>(new std::list<ControlMessage>(std::move(leaving_)));
  if (listening_ == mpi().request_null) return;
  mpi().Cancel(&listening_);
  mpi().Request_free(&listening_);
}

int MpiChannel::listen() {
  return mpi().Irecv(incoming_.data(), bytes_of(incoming_), mpi().byte, MPI_ANY_SOURCE, tag,
                     comm_.handle(), &listening_);
}

int MpiChannel::send(Rank to, ControlWords words) {
  ControlMessage& message = leaving_.emplace_back(ControlMessage{std::move(words), {}});
  const int error = mpi().Isend(message.words->data(), bytes_of(*message.words), mpi().byte, to,
                                tag, comm_.handle(), &message.request);
  if (error == MPI_SUCCESS) return forget_what_has_left();
  leaving_.pop_back();
  return error;
}

int MpiChannel::receive(Rank& from, std::vector<std::int64_t>& words) {
  words.clear();
  int arrived = 0;
  MPI_Status status{};
  if (const int error = mpi().Test(&listening_, &arrived, &status)) return error;
  if (arrived == 0) return forget_what_has_left();
  int bytes = 0;
  if (const int error = mpi().Get_count(&status, mpi().byte, &bytes)) return error;
  from = status.MPI_SOURCE;
  const auto count = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(bytes) / sizeof words[0]);
  words.assign(incoming_.begin(), incoming_.begin() + count);
  return listen();
}

int MpiChannel::forget_what_has_left() {
  while (!leaving_.empty()) {
    int has_left = 0;
    MPI_Status status{};
    const int error = mpi().Test(&leaving_.front().request, &has_left, &status);
    if (error == MPI_SUCCESS && has_left == 0) return MPI_SUCCESS;
    leaving_.pop_front();
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace tutti
