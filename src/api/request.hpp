/// The call behind a persistent request of the C API.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/tuned_selection.hpp"
#include "run/communicator/mpi_persistent.hpp"

namespace tutti {

class ArrivedCall;

/// One gather or scatter with its arguments. open() settles an algorithm that is forced by name, or
/// that rules select. A hierarchical call runs in finish(). If exploration decides and arrivals are
/// exchanged when the request is opened, each start selects as a call of its own does, and may
/// wait for other ranks' starts.
class PersistentRequest {
 public:
  /// `run_native` makes the call through the program's MPI, which reports invalid arguments. All
  /// ranks use it if the arguments of one rank are invalid or not `usable`. Collective. Returns an
  /// MPI error code.
  static int open(const MpiCall& call, bool usable, std::function<int()> run_native,
                  std::unique_ptr<PersistentRequest>& made);

  [[nodiscard]] MPI_Comm comm() const { return call_.comm; }
  [[nodiscard]] bool is_active() const { return active_; }
  /// Not to be called while active. Returns an MPI error code.
  int start();
  /// To be called while active; `site` is the program's call site, for the report. Returns an MPI
  /// error code, with which it has called the program's error handler.
  int finish(const void* site);

 private:
  PersistentRequest(const MpiCall& call, std::function<int()> run_native)
      : call_(call), run_native_(std::move(run_native)) {}
  int settle(Communicator& communicator, bool usable);
  int agree_on_arguments(Communicator& communicator, bool usable, bool& all_valid);
  int open_call(Communicator& communicator, const Specification& specification,
                std::unique_ptr<PersistentCall>& made);
  int select(Communicator& communicator);
  int use(const Decision& decision, Communicator& communicator);
  /// Lets a call that has begun but does not start leave the exchange of arrivals; its number
  /// counts.
  struct Beginning {
    ~Beginning();
    PersistentRequest& request;
  };
  int begin();
  int run();
  int run_between_nodes(const ArrivedCall& arrived, std::string& refused);
  int run_native();

  MpiCall call_;
  std::function<int()> run_native_;
  std::shared_ptr<Arrival> arrival_;          ///< null: arrivals are not exchanged
  std::string settled_text_;                  ///< "native: why"; empty without Tutti
  std::optional<Decision> hierarchical_;      ///< runs in finish()
  std::unique_ptr<PersistentCall> settled_;   ///< null: native
  std::optional<Decision> tuned_;             ///< deferred: each start selects
  std::unique_ptr<PersistentCall> selected_;  ///< what a start selects, unless native
  TunedSelection::NotedCall noted_;           ///< the call under way
  PersistentCall* current_ = nullptr;         ///< null: native
  CallNumber number_ = 0;
  std::string text_;           ///< of the current algorithm, if a report is wanted
  std::uint64_t counted_ = 0;  ///< the call's number for the report
  bool active_ = false;
};

}  // namespace tutti
