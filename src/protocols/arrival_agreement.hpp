/// Agreeing on when the ranks are expected, without ever waiting for the slowest one.
///
/// Calls on a communicator are numbered from 1, alike on all ranks. Each rank tells a coordinator
/// when it expects to arrive at its next call. The coordinator turns what it has been told into
/// epochs: numbered vectors of arrival times. Which epoch a call goes by is decided by the
/// coordinator alone and told to all ranks in one and the same stream of messages, so that all
/// ranks use the same bits for the same call, whenever they come by them:
///
///     estimates for call 7 are complete      -> "epoch 4 = {..}, for calls 7 to 7"
///     a rank is at call 8, which has none    -> "epoch 4, for calls 8 to 8"      (asked for)
///     again, and nothing new is known        -> "epoch 4, for calls 9 to 10", "11 to 14", ..
///
/// A rank that reaches a call that it has no epoch for asks, and gets an answer as soon as the
/// coordinator reads its question: the answer never depends on a rank that is late. Shapes in
/// which only the root looks at the order need no agreement and take the newest epoch.
///
/// What is chosen by arrivals must not change with each call, nor cost a message in each. So the
/// same stream carries profiles (protocols/profile_predictor.hpp), one for calls that follow a
/// gather, one for those that follow a scatterv, and so on, and leases, up to which call all
/// profiles stay as they are:
///
///     a rank asks at call 1                  -> "nothing is known, up to call 1"
///     what follows gathers is known          -> "after gathers it is profile 1, for calls 6 to 6"
///     calls go on, and no profile changes    -> "up to call 8", "12", "20", .. by 32 calls each
///
/// Leases are prolonged before they run out, so that ranks seldom have to ask.
///
/// With a profile goes what such calls have taken after the last arrival
/// (protocols/call_times.hpp): ranks tell when they came to the call before and when they left it.
///
/// Messages between two ranks must arrive in the sequence in which they were sent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/types.hpp"
#include "protocols/call_times.hpp"
#include "protocols/delay_predictor.hpp"
#include "protocols/profile_predictor.hpp"

namespace tutti {

/// The number of a call on a communicator, from 1.
using CallNumber = std::int64_t;

/// When each rank is expected at a call, in seconds of which only differences count.
struct ArrivalEpoch {
  std::int64_t number = 0;       ///< 0: nobody knows anything yet
  std::vector<double> arrivals;  ///< by rank; empty for epoch 0
  /// The how-many-eth each rank is, ties by rank: what any order by arrival depends on.
  std::vector<double> ranking;
  double error = 0;      ///< seconds by which forecasts have been wrong: the worst rank's mean
  Bytes block = 0;       ///< profiles only, see ArrivalProfile
  SignatureTimes times;  ///< profiles only
};

/// The place of each rank in the order of arrivals (see ArrivalEpoch::ranking).
[[nodiscard]] std::vector<double> ranking_of(const std::vector<double>& arrivals);

/// What a rank says ahead of a call. Six words, and six more where it tells of the call before.
struct ArrivalEstimate {
  CallNumber call = 0;
  double arrival = 0;  ///< when it expects to be there
  /// By how much it has been wrong, in seconds (see ForecastError); NaN while it does not know.
  double error = 0;
  Bytes block = 0;  ///< its own at the last irregular call
  /// The collective of the call before; alike on all ranks.
  Collective after = Collective::gather;
  bool wants_epoch = true;   ///< the calls need one each, not only profiles
  TimingSample before = {};  ///< how the call before went
};

/// The running mean of how far one rank's forecasts were off. One call counts for a quarter, and at
/// most for three times the mean before it: a hiccup moves it by half, a new habit within a few
/// calls. O(1).
class ForecastError {
 public:
  void add(double seconds);
  [[nodiscard]] double mean() const { return mean_; }

 private:
  double mean_ = std::numeric_limits<double>::quiet_NaN();
};

/// A message of the agreement.
struct ArrivalMessage {
  Rank peer = no_rank;  ///< to whom
  std::vector<std::int64_t> words;
};

/// The words of the longest message among p ranks.
[[nodiscard]] constexpr std::size_t max_arrival_words(int p) {
  return 11 + max_choices + static_cast<std::size_t>(p);
}

/// What rank 0 does for all. Estimates that are missing when a epoch is due are made up from
/// how late a rank has been before (DelayPredictor, of its estimates); a rank
/// that nothing is known of is expected just behind all others, and makes no profile.
///
/// The error that all go by is that of the worst rank: an order may be worse than the best one by
/// twice that (1|r_j|Cmax with wrong release dates), however well the others are known, and each
/// rank's own is a mean that no single call can move far.
class ArrivalCoordinator {
 public:
  explicit ArrivalCoordinator(int p);

  /// Takes a message that `from` made with its ArrivalMember, at `now` of the common clock, and
  /// appends what is to be sent, rank 0's own message included. O(p) at most.
  void take(Rank from, const std::vector<std::int64_t>& words, double now,
            std::vector<ArrivalMessage>& out);

  /// All ranks have said that they leave.
  [[nodiscard]] bool is_over() const { return left_ == p_; }
  /// Some rank wants a epoch for a call that has none yet. O(p).
  [[nodiscard]] bool owes_epoch() const;

 private:
  /// What the ranks have said about one call.
  struct Estimates {
    std::vector<double> arrivals;  ///< NaN where nothing
    Collective after = Collective::gather;
    std::vector<TimingSample> before;
  };

  void note_estimate(Rank from, const ArrivalEstimate& estimate, std::vector<ArrivalMessage>& out);
  void keep(std::size_t rank, const ArrivalEstimate& estimate);
  void answer(CallNumber call, double now, std::vector<ArrivalMessage>& out);
  void settle(CallNumber call, std::vector<ArrivalMessage>& out);
  void make_epoch(const std::vector<double>& estimates, double not_before);
  [[nodiscard]] double worst_error() const;
  void profile(const Estimates& estimates, std::vector<ArrivalMessage>& out);
  void measure(const std::vector<TimingSample>& samples, std::vector<ArrivalMessage>& out);
  void change(const ArrivalProfile& profile, Collective after, std::vector<ArrivalMessage>& out);
  void extend(CallNumber call, std::vector<ArrivalMessage>& out);
  void extend_until(CallNumber last, const ArrivalProfile* profile, Collective after,
                    std::vector<ArrivalMessage>& out);
  void publish(CallNumber first, CallNumber last, std::vector<ArrivalMessage>& out);
  void send_to_all(const std::vector<std::int64_t>& words, std::vector<ArrivalMessage>& out) const;

  int p_;
  int left_ = 0;
  DelayPredictor delays_;
  std::vector<double> errors_;         ///< of each rank's forecasts; NaN: not known
  std::vector<Bytes> blocks_;          ///< the ranks' own
  std::vector<CallNumber> last_told_;  ///< the latest call that each rank has said anything about
  std::vector<CallNumber> wanted_;     ///< the latest call for which it wanted a epoch
  std::map<CallNumber, Estimates> open_;
  CallNumber settled_ = 0;      ///< nothing counts any more that is said about calls up to this one
  CallNumber assigned_ = 0;     ///< calls up to this one have their epoch
  CallNumber unchanged_ = 0;    ///< calls assigned since anything new was known
  bool learned_ = false;        ///< more is known than the newest epoch says
  std::int64_t epoch_ = 0;      ///< the newest
  std::int64_t published_ = 0;  ///< the newest that the ranks have been told
  std::vector<double> arrivals_;

  std::array<ProfilePredictor, all_collectives.size()> predictors_;  ///< by the call before
  std::array<CallTimer, all_collectives.size()> timers_;             ///< likewise
  bool uses_profiles_ = false;                                       ///< somebody goes by profiles
  CallNumber extended_until_ = 0;  ///< up to this call no profile changes any more
  CallNumber epoch_length_ = 1;    ///< how many calls the next one is for
  CallNumber short_until_;         ///< leases do not grow up to this call
  std::int64_t profiles_ = 0;
};

/// One rank's side: makes its messages and keeps what the coordinator says.
class ArrivalMember {
 public:
  /// "I expect to arrive at that call then."
  [[nodiscard]] static std::vector<std::int64_t> estimate(const ArrivalEstimate& estimate);
  /// "I am at `call` and have no epoch for it."
  [[nodiscard]] static std::vector<std::int64_t> question(CallNumber call);
  /// "I am at `call` and do not know which profiles count."
  [[nodiscard]] static std::vector<std::int64_t> profile_question(CallNumber call);
  /// "I send nothing more."
  [[nodiscard]] static std::vector<std::int64_t> farewell();

  /// Takes a message of the coordinator.
  void take(const std::vector<std::int64_t>& words);

  /// The epoch for `call`, or null while this rank does not know it.
  [[nodiscard]] std::shared_ptr<const ArrivalEpoch> epoch_for(CallNumber call) const;
  /// Sets `profile` to what counts for `call`, which follows a call of `after`: null where nothing
  /// is known of those. False while this rank does not know.
  bool find_profile(CallNumber call, Collective after,
                    std::shared_ptr<const ArrivalEpoch>& profile) const;
  /// The last call of which this rank knows the profiles.
  [[nodiscard]] CallNumber extended_until() const {
    return extensions_.empty() ? 0 : extensions_.back().last;
  }
  /// The first call with the newest profile.
  [[nodiscard]] CallNumber changed() const { return changed_; }
  /// No earlier call will be asked for.
  void forget_before(CallNumber call);
  /// The newest epoch that this rank has heard of; never null.
  [[nodiscard]] std::shared_ptr<const ArrivalEpoch> newest() const { return newest_; }
  /// The coordinator sends nothing more.
  [[nodiscard]] bool is_over() const { return over_; }

 private:
  struct EpochRange {
    CallNumber first;
    CallNumber last;
    std::shared_ptr<const ArrivalEpoch> epoch;
  };

  using Profiles = std::array<std::shared_ptr<const ArrivalEpoch>, all_collectives.size()>;
  struct Extension {
    CallNumber last;  ///< from the one before on
    Profiles profiles;
  };
  void take_extension(const std::vector<std::int64_t>& words);

  std::deque<EpochRange> ranges_;
  std::deque<Extension> extensions_;
  CallNumber changed_ = 0;
  std::shared_ptr<const ArrivalEpoch> newest_ = std::make_shared<ArrivalEpoch>();
  bool over_ = false;
};

}  // namespace tutti
