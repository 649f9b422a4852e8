/// What a persistent request of the C API runs, which is decided anew at each start.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/communicator.hpp"
#include "run/communicator/mpi_persistent.hpp"

namespace tutti {

class ArrivedCall;

/// One gather or scatter with its arguments. What is asked for by name, and what is chosen without
/// arrivals, is settled when the request is opened; what is asked for through nodes runs there when
/// it is waited for. Where arrivals are exchanged by then and the
/// choice is Tutti's, each start goes by what all ranks know of its call. Starting never waits for
/// another rank's program: all that is collective happens when the request is opened.
class PersistentRequest {
 public:
  /// `run_native` makes the call through the program's MPI, which names what is wrong with the
  /// arguments, and does so on all ranks where those of one are wrong or not `usable`. Collective.
  /// Returns an MPI error code.
  static int open(const GatherScatterCall& call, bool usable, std::function<int()> run_native,
                  std::unique_ptr<PersistentRequest>& made);

  [[nodiscard]] MPI_Comm comm() const { return call_.comm; }
  [[nodiscard]] bool is_active() const { return active_; }
  /// Not to be called while active. Returns an MPI error code.
  int start();
  /// To be called while active; `site` is the program's, for the report. Returns an MPI error code,
  /// of which the program's error handler has heard.
  int finish(const void* site);

 private:
  PersistentRequest(const GatherScatterCall& call, std::function<int()> run_native)
      : call_(call), run_native_(std::move(run_native)) {}
  int settle(Communicator& communicator, bool usable);
  int agree_on_arguments(Communicator& communicator, bool usable, bool& all_valid);
  int open_call(Communicator& communicator, const Specification& specification,
                std::unique_ptr<PersistentCall>& made);
  int choose_by_arrivals(Communicator& communicator);
  /// A call that has begun and is not started leaves the exchange of arrivals: its number counts.
  struct Beginning {
    ~Beginning();
    PersistentRequest& request;
  };
  int begin();
  int run();
  int run_through_nodes(const ArrivedCall& arrived, std::string& refused);
  int run_native();

  GatherScatterCall call_;
  std::function<int()> run_native_;
  std::shared_ptr<Arrival> arrival_;             ///< null: not exchanged
  std::string settled_text_;                     ///< "native: why"; empty without Tutti
  std::optional<Decision> through_nodes_;        ///< runs when the rank waits
  std::unique_ptr<PersistentCall> settled_;      ///< null: the MPI's own
  AlgorithmId settled_mark_ = ran_native;        ///< of its specification
  std::unique_ptr<PersistentCall> by_arrivals_;  ///< null: nothing is weighed at the start
  PersistentCall* current_ = nullptr;            ///< null: the MPI's own
  CallNumber number_ = 0;
  std::string text_;           ///< of what runs now, where a report is wanted
  std::uint64_t counted_ = 0;  ///< the call's number for the report
  bool active_ = false;
};

}  // namespace tutti
