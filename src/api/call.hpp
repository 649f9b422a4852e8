/// Calls of all collectives, as the C API takes them.
#pragma once

#include <string>
#include <type_traits>

#include "api/arrived_call.hpp"
#include "api/entry.hpp"
#include "report/call_log.hpp"
#include "run/call/mpi_call.hpp"

namespace tutti {

/// Reads the parameters of an MPI function in sequence (see collectives.inc). A buffer begins a
/// side; counts and type that follow both buffers of a reduction are those of both sides.
class CallReader {
 public:
  explicit CallReader(Collective collective) { call_.collective = collective; }

  void read(kinds::In, const void* address) {
    side_ = &call_.send;
    side_->address = const_cast<void*>(address);
  }
  void read(kinds::Out, void* address) {
    if (side_ == nullptr) call_.send.address = MPI_IN_PLACE;  // a bcast has one buffer
    side_ = &call_.receive;
    side_->address = address;
  }
  void read(kinds::Count, MPI_Count count) { side_->blocks = RankBlocks(count); }
  template <class Counted>
  void read(kinds::Counts, const Counted* counts) {
    side_->blocks = RankBlocks::counted(counts);
  }
  template <class Displacement>
  void read(kinds::Displacements, const Displacement* displacements) {
    side_->blocks.place(displacements);
  }
  void read(kinds::Type, MPI_Datatype type) { side_->type = type; }
  void read(kinds::Types, const MPI_Datatype* types) {
    side_->type = mpi().type_null;
    side_->types = types;
  }
  void read(kinds::Op, MPI_Op op) {
    call_.op = op;
    call_.send.blocks = call_.receive.blocks;
    call_.send.type = call_.receive.type;
  }
  void read(kinds::Root, int root) { call_.root = root; }
  void read(kinds::Comm, MPI_Comm comm) { call_.comm = comm; }

  [[nodiscard]] const MpiCall& call() const { return call_; }

 private:
  MpiCall call_;
  CallSide* side_ = nullptr;
};

/// The call with these arguments of a function with these kinds of parameters.
template <class... Kinds, class... Arguments>
[[nodiscard, gnu::hot]] MpiCall call_of(Collective collective, std::type_identity<void(Kinds...)>,
                                        Arguments... arguments) {
  CallReader reader(collective);
  (reader.read(Kinds(), arguments), ...);
  return reader.call();
}

/// Its signature at a rank of p. Reads counts that are significant at all ranks, and
/// no other memory of the program's. O(1), of some irregular collectives O(p).
[[nodiscard, gnu::hot]] CallSignature signature_of(const MpiCall& call, Rank rank, int p);

/// The error class of a call that no MPI could run; MPI_SUCCESS if one could, as far as is known
/// without its types. Reads no argument that is not significant at this rank.
[[nodiscard]] int fault_of(const MpiCall& call, const Communicator& communicator);
/// If not, the MPI runs the call and names the error.
[[nodiscard]] inline bool looks_valid(const MpiCall& call, const Communicator& communicator) {
  return fault_of(call, communicator) == MPI_SUCCESS;
}

/// The bytes of a call's block, which is that of a rank, of a pair, or the whole vector, if MPI
/// makes them equal on all ranks; none if it does not, or if this rank's arguments are invalid.
/// O(1), irregular collectives O(p).
[[nodiscard]] std::optional<Bytes> common_block(const MpiCall& call,
                                                const Communicator& communicator);

/// May `auto` explore the call? Nothing that it could stage without bound. A reduction only if its
/// result does not depend on how it is associated (see is_order_free), unless the user asked for a
/// hierarchical one, and never with parts of vectors for an operation that gets whole ones.
[[nodiscard]] bool may_explore(const MpiCall& call, const Decision& decision,
                               const Communicator& communicator);

/// For collectives without a common block: bytes of all blocks that this rank sends to others, in a
/// gather or scatter of its own block; 0 if its arguments are invalid. O(p).
[[nodiscard]] Bytes block_bytes(const MpiCall& call, const Communicator& communicator);

/// The communicator of a call of the program, whose record begins: call it before anything that may
/// wait for other ranks. Null if the MPI is to run the call, or after an error.
[[nodiscard]] Communicator* begin_call(MPI_Comm comm, CallRecord& record, int& error);
/// Opens the exchange of arrivals if rank 0's environment asks for it and `decision` can use it.
/// Collective in this case. Returns an MPI error code.
int learn_arrivals(Communicator& communicator, const Decision& decision);
/// Keeps the record of a call that ends now. `arrival`: the exchange that predicted it, or null.
void keep_record(const MpiCall& call, const Communicator& communicator, const Arrival* arrival,
                 CallRecord record);

/// "linear: bine would exceed TUTTI_MEMORY", or "native" for null.
[[nodiscard]] std::string text_of_instead(const Specification* ran, const Specification& asked);

/// Runs a specification. Sets `is_native` instead if the arguments are invalid at this rank.
/// Collective, whatever they are. `arrived`: null if arrivals are not exchanged. Returns an MPI
/// error code.
int run_specification(MpiCall& call, Communicator& communicator, const Specification& specification,
                      const ArrivedCall* arrived, bool& is_native);

/// Runs a hierarchical call as selected. If the selection asks for it, the order between nodes is
/// that of arrival, if known, or of distance. If the call must stay flat, sets `is_refused`,
/// equally on all ranks, and notes why: Decision::when_flat() is to run. Sets `is_native` if this
/// rank's arguments are invalid: it has taken part as a dummy, and the program's MPI reports the
/// error. `arrived`: null if arrivals are not exchanged. Returns an MPI error code.
int run_hierarchical(MpiCall& call, Communicator& communicator, const Decision& decision,
                     const ArrivedCall* arrived, bool& is_refused, bool& is_native);

/// Runs the decision for one call, whose record has begun, and finds the arrivals that it uses.
class SelectedCall : NotCopied {
 public:
  SelectedCall(const MpiCall& call, Communicator& communicator, const CallRecord& begun)
      : call_(call),
        signature_(signature_of(call, communicator.rank(), communicator.p())),
        kept_(communicator.shared_from_this()),
        communicator_(communicator),
        record_(begun) {}
  ~SelectedCall();

  /// Finds the decision. Collective where the decision is deferred. Returns an MPI error code.
  int select();
  /// Runs the decision. Sets `is_native` instead if the MPI's own is to run: as decided, or because
  /// the arguments are invalid, so that the MPI names the error. Returns an MPI error code.
  int run(bool& is_native);
  /// The MPI's own begins: nothing else of the call counts for the tuner.
  void begin_native() {
    if (noted_.state != nullptr) noted_.began = monotonic_seconds();
  }
  /// The call has ended with this error code. Keeps its record if a report is requested, of what
  /// ran instead if it deviates from the decision. Does nothing if the communicator was freed.
  void end(int error);

 private:
  int resolve();
  void let_pass();
  [[nodiscard]] const ArrivedCall* arrived() const { return arrived_ ? &*arrived_ : nullptr; }

  MpiCall call_;
  const CallSignature signature_;
  const std::shared_ptr<Communicator> kept_;  ///< the program's error handler may free it
  Communicator& communicator_;
  CallRecord record_;
  TunedSelection::NotedCall noted_;
  const Decision* usual_ = nullptr;  ///< before it is resolved
  const Decision* decision_ = nullptr;
  bool selects_native_ = false;
  std::optional<HierarchicalRunner::Turn> turn_;
  std::optional<ArrivedCall> arrived_;  ///< none if arrivals are not exchanged
};

/// A call that is not handed on: `make_call` reads its arguments if Tutti handles it. Runs Tutti's
/// algorithm or `run_native`.
template <class MakeCall, class Native>
int inspect(MPI_Comm comm, const void* site, MakeCall make_call, Native run_native) {
  std::optional<SelectedCall> call;
  return run_or_native(
      comm,
      [&](bool& is_native) -> int {
        CallRecord record;
        record.site = site;
        int begun = MPI_SUCCESS;
        Communicator* const communicator = begin_call(comm, record, begun);
        is_native = communicator == nullptr && begun == MPI_SUCCESS;
        if (communicator == nullptr) return begun;
        call.emplace(make_call(), *communicator, record);
        const int selected = call->select();
        return selected == MPI_SUCCESS ? call->run(is_native) : selected;
      },
      [&] {
        if (call) call->begin_native();
        return run_native();
      },
      [&](int error) {
        if (call) call->end(error);
        call.reset();
      });
}

}  // namespace tutti
