/// Nonblocking messages: tests them, and yields the core in between. Packs on parts.
#include "run/transport/mpi_transport.hpp"

#include <sched.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <optional>

#include "run/mpi/exchange.hpp"
#include "run/mpi/quirks.hpp"
#include "run/mpi/types.hpp"
#include "run/process.hpp"
#include "run/processors.hpp"

namespace tutti {

namespace {

/// The tag of a copy between a rank and itself.
constexpr int copy_tag = 1023;

/// A region with more than INT_MAX elements as one element of a larger datatype.
class Typed {
 public:
  explicit Typed(const Region& region)
      : count_(static_cast<int>(region.count)), type_(datatype(region.type)) {
    if (region.count <= INT_MAX) return;
    error_ = large_.emplace().make(type_, {{0, region.count}});
    count_ = 1;
    type_ = large_->handle();
  }

  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] MPI_Datatype type() const { return type_; }

 private:
  int count_;
  MPI_Datatype type_;
  int error_ = MPI_SUCCESS;
  std::optional<IndexedType> large_;
};

/// Copies as a message to this rank.
int copy_by_message(const Region& from, const Region& to, Rank own, MPI_Comm comm) {
  const Typed source(from);
  const Typed target(to);
  if (source.error() != MPI_SUCCESS) return source.error();
  if (target.error() != MPI_SUCCESS) return target.error();
  return mpi().Sendrecv(from.address, source.count(), source.type(), own, copy_tag, to.address,
                        target.count(), target.type(), own, copy_tag, comm, MPI_STATUS_IGNORE);
}

/// Calls move(elements, offset, bytes) for parts whose elements and bytes an int can count, or of
/// one element that has more bytes.
/// MPICH 4.0 refuses a null address: elements at MPI_BOTTOM are counted from `base` instead.
template <class Move>
int in_parts(const Region& all, void* base, Move move) {
  const MPI_Datatype type = datatype(all.type);
  MPI_Count size = 0;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  if (const int error = mpi().Type_size_x(type, &size)) return error;
  if (const int error = mpi().Type_get_extent(type, &lower, &extent)) return error;
  if (size == 0) return MPI_SUCCESS;
  const std::int64_t most = std::max<std::int64_t>(1, INT_MAX / size);
  for (std::int64_t done = 0; done < all.count; done += most) {
    const std::int64_t count = std::min(most, all.count - done);
    Region part = {static_cast<std::byte*>(all.address) + done * extent, count, all.type};
    IndexedType from_base;
    if (part.address == nullptr) {
      const auto displacement = static_cast<MPI_Aint>(-reinterpret_cast<std::intptr_t>(base));
      if (const int error = from_base.make(type, {{displacement, count}})) return error;
      part = {base, 1, handle_bits(from_base.handle())};
    }
    if (const int error = move(part, done * size, count * size)) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace

int pack(const Region& from, std::byte* packed, MPI_Comm comm) {
  return in_parts(from, packed, [&](const Region& part, std::int64_t at, std::int64_t bytes) {
    if (bytes > INT_MAX) {
      return copy_by_message(part, {packed + at, bytes, 0}, rank_in(comm), comm);
    }
    int position = 0;
    return mpi().Pack(part.address, static_cast<int>(part.count), datatype(part.type), packed + at,
                      static_cast<int>(bytes), &position, comm);
  });
}

int unpack(const std::byte* packed, const Region& to, MPI_Comm comm) {
  void* const base = const_cast<std::byte*>(packed);
  return in_parts(to, base, [&](const Region& part, std::int64_t at, std::int64_t bytes) {
    if (bytes > INT_MAX) {
      const Region whole = {const_cast<std::byte*>(packed) + at, bytes, 0};
      return copy_by_message(whole, part, rank_in(comm), comm);
    }
    int position = 0;
    return mpi().Unpack(packed + at, static_cast<int>(bytes), &position, part.address,
                        static_cast<int>(part.count), datatype(part.type), comm);
  });
}

int MpiTransport::begin(int slot, const Transfer& transfer) {
  fruitless_polls_ = 0;
  if (!transfer.sends && transfer.region.type != 0 && typed_receives_truncate()) {
    return begin_detour(slot, transfer);
  }
  const Typed typed(transfer.region);
  if (typed.error() != MPI_SUCCESS) return typed.error();
  // Nothing may throw once the message has begun.
  slots_.push_back(slot);
  requests_.push_back(mpi().request_null);
  indices_.resize(requests_.size());
  statuses_.resize(requests_.size());
  const int error = transfer.sends
                        ? mpi().Isend(transfer.region.address, typed.count(), typed.type(),
                                      transfer.peer, transfer.tag, comm_, &requests_.back())
                        : mpi().Irecv(transfer.region.address, typed.count(), typed.type(),
                                      transfer.peer, transfer.tag, comm_, &requests_.back());
  if (error == MPI_SUCCESS) return 0;
  slots_.pop_back();
  requests_.pop_back();
  return error;
}

int MpiTransport::poll(std::vector<int>& completed) {
  if (requests_.empty()) return 0;
  int count = 0;
  int error = test(count);
  if (count == MPI_UNDEFINED || count == 0) return error;
  fruitless_polls_ = 0;
  for (int i = 0; i < count; ++i) {
    const auto index = static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)]);
    const int failed = complete(slots_[index], completed);
    if (error == MPI_SUCCESS) error = failed;
    // Open MPI keeps the request of a damaged message.
    if (requests_[index] != mpi().request_null) mpi().Request_free(&requests_[index]);
    requests_[index] = mpi().request_null;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == mpi().request_null) continue;
    requests_[kept] = requests_[i];
    slots_[kept++] = slots_[i];
  }
  requests_.resize(kept);
  slots_.resize(kept);
  return error;
}

/// Sets `count` and the first `count` indices to the completed requests; returns the first error
/// of one of them, or of the test itself.
int MpiTransport::test(int& count) {
  if (requests_.size() == 1) {
    int flag = 0;
    const int error = mpi().Test(requests_.data(), &flag, statuses_.data());
    count = error != MPI_SUCCESS || flag != 0 ? 1 : 0;
    indices_[0] = 0;
    return error;
  }
  const int error = mpi().Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                                   indices_.data(), statuses_.data());
  if (error == MPI_SUCCESS) return MPI_SUCCESS;
  if (error != MPI_ERR_IN_STATUS) {
    count = 0;
    return error;
  }
  for (int i = 0; i < count; ++i) {
    const int code = statuses_[static_cast<std::size_t>(i)].MPI_ERROR;
    if (code != MPI_SUCCESS && code != MPI_ERR_PENDING) return code;
  }
  return MPI_SUCCESS;
}

int MpiTransport::begin_detour(int slot, const Transfer& transfer) {
  MPI_Count size = 0;
  if (const int error = mpi().Type_size_x(datatype(transfer.region.type), &size)) return error;
  const auto bytes = static_cast<std::int64_t>(size) * transfer.region.count;
  detours_.push_back(
      {slot, std::vector<std::byte>(static_cast<std::size_t>(bytes)), transfer.region});
  return begin(slot,
               {false, transfer.peer, transfer.tag, {detours_.back().packed.data(), bytes, 0}});
}

int MpiTransport::complete(int slot, std::vector<int>& completed) {
  completed.push_back(slot);
  const auto detour = std::ranges::find(detours_, slot, &Detour::slot);
  if (detour == detours_.end()) return 0;
  const int error = unpack(detour->packed.data(), detour->region, comm_);
  detours_.erase(detour);
  return error;
}

int MpiTransport::copy(const Region& from, const Region& to) {
  if (from.type == 0 && to.type == 0) {
    std::memmove(to.address, from.address,
                 static_cast<std::size_t>(std::min(from.count, to.count)));
    return from.count > to.count ? MPI_ERR_TRUNCATE : 0;
  }
  if (from.type == 0) {
    MPI_Count element = 0;
    if (const int error = mpi().Type_size_x(datatype(to.type), &element)) return error;
    if (from.count > element * to.count) return MPI_ERR_TRUNCATE;
    if (typed_receives_truncate()) {
      return unpack(static_cast<const std::byte*>(from.address), to, comm_);
    }
  }
  return copy_by_message(from, to, rank_, comm_);
}

void MpiTransport::idle() {
  // Most messages come soon. Yielding a core that no other rank uses costs latency; keeping a
  // shared core stops the sender.
  const int patience = each_rank_has_a_core() ? 4000 : 30;
  if (fruitless_polls_ < patience) {
    ++fruitless_polls_;
  } else {
    sched_yield();
  }
}

void MpiTransport::abandon() {
  for (MPI_Request& request : requests_) {
    if (request == mpi().request_null) continue;
    mpi().Cancel(&request);
    mpi().Request_free(&request);
  }
  requests_.clear();
  slots_.clear();
  // Cancelled receives that had matched may still write into these.
  leak(detours_);
}

}  // namespace tutti
