/// Agreement of all ranks on their expected arrivals, without waiting for the slowest rank.
///
/// Calls on a communicator are numbered from 1, alike on all ranks. Each rank sends a coordinator
/// an estimate of its arrival at its next call. From these the coordinator makes epochs (numbered
/// vectors of arrival times), assigns them to calls, and sends all ranks the same stream of
/// messages, so all use the same bits for the same call (docs/decisions/arrivals-by-epoch.md):
///
///     estimates for call 7 are complete      -> "epoch 4 = {..}, for calls 7 to 7"
///     a rank asks at call 8                  -> "epoch 4, for calls 8 to 8"
///     ranks ask again, nothing new is known  -> "epoch 4, for calls 9 to 10", "11 to 14", ..
///
/// The stream also carries arrival profiles, one for each collective that precedes a call, and
/// extensions, each with the last call up to which all profiles hold; they come before the profiles
/// expire, so that ranks seldom ask (docs/decisions/arrival-profiles.md):
///
///     a profile of calls after gathers       -> "after gathers profile 1, for calls 6 to 6"
///     no profile changes                     -> "up to call 8", "12", "20", .. by 32 calls each
///
/// Messages between two ranks must arrive in the sequence in which they were sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "core/nodes.hpp"
#include "core/types.hpp"
#include "protocols/arrival_predictors.hpp"

namespace tutti {

/// The number of a call on a communicator, from 1.
using CallNumber = std::int64_t;

/// The expected arrival of each rank at a range of calls, in seconds; only differences count.
struct ArrivalEpoch {
  std::int64_t number = 0;       ///< 0: no estimates yet
  std::vector<double> arrivals;  ///< by rank; empty for epoch 0
  /// By rank, its index in the sequence of arrivals, ties by rank. Any order by arrival depends on
  /// these alone.
  std::vector<double> ranking;
};

/// The epoch for calls between nodes: nodes take the place of ranks, and arrive with their last
/// ranks. O(p + n log n) for n nodes.
[[nodiscard]] ArrivalEpoch epoch_between(const ArrivalEpoch& epoch, const Nodes& nodes);

/// What a rank sends ahead of a call: 5 words.
struct ArrivalEstimate {
  CallNumber call = 0;
  double arrival = 0;  ///< expected, in seconds of the common clock
  /// The rank's mean forecast error in seconds (see ForecastError); NaN while unknown.
  double error = 0;
  /// The collective of the call before; alike on all ranks.
  Collective after = Collective::gather;
  bool wants_epoch = true;  ///< each call needs an epoch, not only profiles
};

/// A message of the agreement.
using ArrivalMessage = std::vector<std::int64_t>;

/// The words of the longest message among p ranks.
[[nodiscard]] constexpr std::size_t max_arrival_words(int p) { return 5 + index(p); }

/// Rank 0's part for all ranks. Where an epoch is due and estimates are missing, the coordinator
/// predicts them from the rank's earlier delays (DelayPredictor). It expects a rank without any
/// estimates just behind all others, and then makes no profile.
///
/// A profile depends on the error of the worst rank: an order may be worse than the best one by
/// twice that error (1|r_j|Cmax with wrong release dates), however accurate the others are. Each
/// rank's error is a mean that no single call moves far.
class ArrivalCoordinator {
 public:
  explicit ArrivalCoordinator(int p);

  /// Takes a message that `from` made with its ArrivalMember, at `now` of the common clock. Returns
  /// the messages to send to every rank, rank 0 included. O(p) for the first and the last estimate
  /// of a call and for a question, else O(log of the pending calls).
  [[nodiscard]] std::vector<ArrivalMessage> take(Rank from, const ArrivalMessage& words,
                                                 double now);

  /// Some rank wants an epoch for a call that has none yet.
  [[nodiscard]] bool owes_epoch() const { return wanted_ > assigned_; }

 private:
  /// The ranks' estimates for one call.
  struct Estimates {
    std::vector<double> arrivals;  ///< NaN where missing
    Collective after = Collective::gather;
  };

  void note_estimate(Rank from, const ArrivalEstimate& estimate);
  void keep(std::size_t rank, const ArrivalEstimate& estimate);
  void advance(std::size_t rank, CallNumber call);
  void answer(CallNumber call, double now);
  void settle(CallNumber call);
  void make_epoch(const std::vector<double>& estimates, double not_before);
  [[nodiscard]] double worst_error() const;
  void profile(const Estimates& estimates);
  void extend(CallNumber call);
  void extend_until(CallNumber last, const ArrivalProfile* profile, Collective after);
  void publish(CallNumber first, CallNumber last);

  int p_;
  std::vector<ArrivalMessage> messages_;  ///< to send
  int left_ = 0;
  DelayPredictor delays_;
  std::vector<double> errors_;               ///< mean forecast error by rank; NaN: unknown
  std::vector<CallNumber> last_estimated_;   ///< by rank: the latest call of its estimates
  CallNumber all_past_ = 0;                  ///< the earliest of them
  int behind_;                               ///< number of ranks whose latest call is `all_past_`
  CallNumber wanted_ = 0;                    ///< the latest call that wants an epoch
  std::map<CallNumber, Estimates> pending_;  ///< of calls that are not settled
  CallNumber settled_ = 0;      ///< estimates for calls up to this one do not count any more
  CallNumber assigned_ = 0;     ///< calls up to this one have their epoch
  CallNumber unchanged_ = 0;    ///< calls assigned since the last new estimate
  bool learned_ = false;        ///< delays changed since the newest epoch
  std::int64_t epoch_ = 0;      ///< number of the newest epoch
  std::int64_t published_ = 0;  ///< number of the newest epoch that the ranks have received
  std::vector<double> arrivals_;

  PerCollective<ProfilePredictor> predictors_;  ///< by the call before
  bool uses_profiles_ = false;                  ///< some rank asked for a profile
  CallNumber extended_until_ = 0;               ///< all profiles hold up to this call
  CallNumber epoch_length_ = 1;                 ///< number of calls of the next extension
  CallNumber short_until_;                      ///< the epoch length does not grow up to this call
  std::int64_t profiles_ = 0;                   ///< number of the newest profile
};

/// One rank's side: makes its messages and keeps the coordinator's assignments.
class ArrivalMember {
 public:
  /// "I expect to arrive at that call then."
  [[nodiscard]] static ArrivalMessage estimate(const ArrivalEstimate& estimate);
  /// "I am at `call` and have no epoch for it."
  [[nodiscard]] static ArrivalMessage question(CallNumber call);
  /// "I am at `call` and do not know its profiles."
  [[nodiscard]] static ArrivalMessage profile_question(CallNumber call);
  /// "I send nothing more."
  [[nodiscard]] static ArrivalMessage farewell();

  /// Takes a message of the coordinator.
  void take(const ArrivalMessage& words);

  /// The epoch for `call`, or null while this rank does not know it.
  [[nodiscard]] std::shared_ptr<const ArrivalEpoch> epoch_for(CallNumber call) const;
  /// Sets `profile` to the profile of `call`, which follows a call of `after`; null if there is
  /// none. False while this rank does not know.
  bool find_profile(CallNumber call, Collective after,
                    std::shared_ptr<const ArrivalEpoch>& profile) const;
  /// The first call with the newest profile.
  [[nodiscard]] CallNumber changed() const { return changed_; }
  /// Forgets the epochs and profiles of earlier calls.
  void forget_before(CallNumber call);
  /// The newest epoch that this rank has received; never null.
  [[nodiscard]] std::shared_ptr<const ArrivalEpoch> newest() const { return newest_; }
  /// The coordinator sends nothing more.
  [[nodiscard]] bool is_over() const { return over_; }

 private:
  struct EpochRange {
    CallNumber first;
    CallNumber last;
    std::shared_ptr<const ArrivalEpoch> epoch;
  };

  struct Extension {
    CallNumber last = 0;  ///< the first call is the one behind the extension before
    PerCollective<std::shared_ptr<const ArrivalEpoch>> profiles;
  };
  void take_extension(const ArrivalMessage& words);

  std::deque<EpochRange> ranges_;
  std::deque<Extension> extensions_;
  CallNumber changed_ = 0;
  std::shared_ptr<const ArrivalEpoch> newest_ = std::make_shared<ArrivalEpoch>();
  bool over_ = false;
};

}  // namespace tutti
