/// Checks arguments, runs specifications and describes calls for the report.
#include "api/collective_call.hpp"

#include <algorithm>

#include "run/mpi/order_free.hpp"
#include "select/hierarchical.hpp"
#include "select/reductions.hpp"

namespace tutti {

namespace {

/// The error class of arguments that `looks_valid` refused. An MPI without a large-count form
/// cannot name it.
int fault_of(const CollectiveCall& call, const Communicator& communicator) {
  if (has_root(call.collective) && (call.root < 0 || call.root >= communicator.p())) {
    return MPI_ERR_ROOT;
  }
  for (const CallSide* side : {&call.send, &call.receive}) {
    if (side == &call.send && !call.has_send_side()) continue;
    if (!side->blocks.are_given()) return MPI_ERR_ARG;
    if (!side->blocks.are_counted(communicator.p())) return MPI_ERR_COUNT;
  }
  return MPI_ERR_TYPE;
}

Bytes element_size(const CallSide& side, Rank rank) {
  MPI_Count size = 0;
  if (side.blocks.count(rank) > 0) mpi().Type_size_x(side.type_for(rank), &size);
  return size;
}

/// Describes the vector that a rank contributes.
void describe_reduction(const CollectiveCall& call, CallRecord& record) {
  MPI_Count element = 0;
  mpi().Type_size_x(call.receive.type, &element);
  const bool scatters = block_kind(call.collective) == BlockKind::ranks;
  Bytes largest = 0;
  for (Rank rank = 0; rank < (scatters ? record.p : 1); ++rank) {
    const Bytes bytes = call.receive.blocks.count(rank) * element;
    record.own += bytes;
    largest = std::max(largest, bytes);
  }
  if (record.rank != record.root) return;
  record.total = record.own;
  record.largest = largest;
}

}  // namespace

bool looks_valid(const CollectiveCall& call, const Communicator& communicator) {
  const int p = communicator.p();
  if (has_root(call.collective) && (call.root < 0 || call.root >= p)) return false;
  const bool is_elsewhere =
      call.collective == Collective::reduce && communicator.rank() != call.root;
  if (is_elsewhere && call.in_place()) return false;
  return (!call.has_send_side() || call.send.looks_valid(p)) &&
         (!call.has_receive_side() || call.receive.looks_valid(p));
}

namespace {

/// The mean over `ranks` blocks of a side; none if arguments are invalid.
std::optional<Bytes> mean_block(const CallSide& side, int ranks) {
  const RankBlocks& blocks = side.blocks;
  if (!blocks.are_given() || side.types != nullptr || side.type == mpi().type_null) return {};
  if (!blocks.are_counted(ranks)) return {};
  MPI_Count count = 0;
  for (Rank rank = 0; rank < ranks; ++rank) count += blocks.count(rank);
  MPI_Count size = 0;
  if (mpi().Type_size_x(side.type, &size) != MPI_SUCCESS) return {};
  return count * size / ranks;
}

}  // namespace

std::optional<Bytes> common_block(const CollectiveCall& call, const Communicator& communicator) {
  if (call.collective == Collective::barrier) return 0;
  if (!is_block_common(call.collective)) return {};
  const int ranks = is_irregular(call.collective) ? communicator.p() : 1;
  const auto block = mean_block(call.receive, ranks);
  const bool send_decides = call.has_send_side() && ranks == 1;
  return block || !send_decides ? block : mean_block(call.send, ranks);
}

bool may_explore(const CollectiveCall& call, const Decision& decision,
                 const Communicator& communicator) {
  if (!reduces(call.collective)) return true;
  if (communicator.takes_whole(call.op)) return false;
  return !decision.is_automatic || is_order_free(call.op, call.receive.type);
}

Bytes block_bytes(const CollectiveCall& call, const Communicator& communicator) {
  if (!looks_valid(call, communicator)) return 0;
  const CallSide& sent = call.in_place() ? call.receive : call.send;
  const bool pairs = block_kind(call.collective) == BlockKind::pairs;
  Bytes bytes = 0;
  Bytes element = element_size(sent, 0);
  for (Rank rank = 0; rank < (pairs ? communicator.p() : 1); ++rank) {
    if (sent.types != nullptr || element == 0) element = element_size(sent, rank);
    bytes += sent.blocks.count(rank) * element;
  }
  return bytes;
}

/// Describes what a rank contributes: its block or blocks; for a bcast the vector.
void describe(const CollectiveCall& call, CallRecord& record) {
  record.root = call.root;
  record.own = 0;
  if (call.collective == Collective::barrier) {
    if (record.rank == record.root) record.total = record.largest = 0;
    return;
  }
  if (reduces(call.collective)) return describe_reduction(call, record);
  const bool pairs = block_kind(call.collective) == BlockKind::pairs;
  const CallSide& sent = call.in_place() ? call.receive : call.send;
  const Rank mine = call.in_place() ? record.rank : 0;
  record.own = sent.blocks.count(mine) * element_size(sent, mine);
  if (!pairs && record.rank != record.root) return;
  record.total = record.largest = 0;
  const CallSide& blocks = pairs ? sent : call.receive;
  const bool one_vector = block_kind(call.collective) == BlockKind::parts;
  Bytes element = element_size(blocks, 0);
  for (Rank rank = 0; rank < (one_vector ? 1 : record.p); ++rank) {
    if (blocks.types != nullptr || element == 0) element = element_size(blocks, rank);
    const Bytes bytes = blocks.blocks.count(rank) * element;
    record.total += bytes;
    record.largest = std::max(record.largest, bytes);
    if (call.collective != Collective::alltoallv) continue;
    if (rank == record.rank) record.kept = bytes;
    if (rank != record.rank) record.largest_sent = std::max(record.largest_sent, bytes);
  }
  if (!pairs) return;
  record.own = record.total;
  if (record.rank != record.root) record.total = record.largest = -1;
}

int run_specification(CollectiveCall& call, Communicator& communicator,
                      const Specification& specification, const ArrivedCall& arrived,
                      bool& is_native) {
  int error = MPI_SUCCESS;
  PrivateComm* comm = communicator.private_comm(error);
  if (comm == nullptr) return error;
  comm->begin(call);
  if (specification.runner == Runner::background && arrived.has_thread())
    comm->receive_unexpected();
  const bool valid = looks_valid(call, communicator);
  CollectiveCalls& calls = comm->collectives();
  if (valid && calls.repeat(call, specification, error)) return error;
  std::shared_ptr<const ArrivalEpoch> epoch;
  error = arrived.find_epoch(specification, communicator.rank() == call.root, epoch);
  if (error != MPI_SUCCESS) return error;
  const RankOrders* rank_orders = communicator.rank_orders(specification, call.root, error);
  if (error != MPI_SUCCESS) return error;
  const CallContext context = {communicator.machine().half_performance_length(),
                               1 / communicator.machine().per_byte,
                               epoch.get(),
                               nullptr,
                               nullptr,
                               rank_orders};
  is_native = !valid || !calls.learn_types(call);
  // The MPI's own algorithm need not give the same bits again.
  if (reduces(call.collective) && communicator.is_reproducible()) call.bounded = false;
  if (!is_native && !calls.fits(call, specification)) {
    is_native = true;
    comm->give_up();
    communicator.note_algorithm(call.collective,
                                "native: " + to_text(specification) + " would exceed TUTTI_MEMORY");
    return MPI_SUCCESS;
  }
  if (!is_native) return calls.run(call, specification, context);
  calls.take_part_as_dummy(call, specification, context);
  return MPI_SUCCESS;
}

namespace {

/// A specification that accepts whatever MPI allows.
Specification plain_specification(Collective collective) {
  return reduces(collective) ? fixed_reduction(collective) : *specification(collective, "linear");
}

}  // namespace

int run_without_large_form(CollectiveCall& call) {
  int error = MPI_SUCCESS;
  Communicator* communicator = Communicator::of(call.comm, error);
  if (communicator == nullptr) return raise(call.comm, error);
  if (communicator->is_inter()) return raise(call.comm, MPI_ERR_UNSUPPORTED_OPERATION);
  call.bounded = false;
  bool is_native = false;
  error = run_specification(call, *communicator, plain_specification(call.collective),
                            ArrivedCall(nullptr, call.collective, nullptr), is_native);
  return raise_if(call.comm, is_native ? fault_of(call, *communicator) : error);
}

}  // namespace tutti
