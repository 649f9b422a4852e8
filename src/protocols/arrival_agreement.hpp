/// Agreeing on when the ranks are expected, without ever waiting for the slowest one.
///
/// Calls on a communicator are numbered from 1, alike on all ranks. Each rank tells a coordinator
/// when it expects to arrive at its next call. The coordinator turns what it has been told into
/// versions: numbered vectors of arrival times. Which version a call goes by is decided by the
/// coordinator alone and told to all ranks in one and the same stream of messages, so that all
/// ranks use the same bits for the same call, whenever they come by them:
///
///     estimates for call 7 are complete      -> "version 4 = {..}, for calls 7 to 7"
///     a rank is at call 8, which has none    -> "version 4, for calls 8 to 8"      (asked for)
///     again, and nothing new is known        -> "version 4, for calls 9 to 10", "11 to 14", ..
///
/// A rank that reaches a call that it has no version for asks, and gets an answer as soon as the
/// coordinator reads its question: the answer never depends on a rank that is late. Shapes in
/// which only the root looks at the order need no agreement and take the newest version.
///
/// What is chosen by arrivals must not change with each call, nor cost a message in each. So the
/// same stream carries pictures (protocols/profile_predictor.hpp), one for calls that follow a
/// gather, one for those that follow a scatterv, and so on, and leases, up to which call all
/// pictures stay as they are:
///
///     a rank asks at call 1                  -> "nothing is known, up to call 1"
///     what follows gathers is known          -> "after gathers it is picture 1, for calls 6 to 6"
///     calls go on, and no picture changes    -> "up to call 8", "12", "20", .. by 32 calls each
///
/// Leases are prolonged before they run out, so that ranks seldom have to ask.
///
/// With a picture goes what such calls have taken after the last arrival
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
struct ArrivalVersion {
  std::int64_t number = 0;       ///< 0: nobody knows anything yet
  std::vector<double> arrivals;  ///< by rank; empty for version 0
  /// The how-many-eth each rank is, ties by rank: what any order by arrival depends on.
  std::vector<double> places;
  double error = 0;  ///< seconds by which forecasts have been wrong: the worst rank's mean
  Bytes block = 0;   ///< pictures only, see ArrivalPicture
  KindTimes times;   ///< pictures only
};

/// The place of each rank in the order of arrivals (see ArrivalVersion::places).
[[nodiscard]] std::vector<double> places_of(const std::vector<double>& arrivals);

/// What a rank says ahead of a call. Six words, and six more where it tells of the call before.
struct ArrivalEstimate {
  CallNumber call = 0;
  double arrival = 0;  ///< when it expects to be there
  /// By how much it has been wrong, in seconds (see ForecastError); NaN while it does not know.
  double error = 0;
  Bytes block = 0;  ///< its own at the last irregular call
  /// The collective of the call before; alike on all ranks.
  Collective after = Collective::gather;
  bool wants_version = true;  ///< the calls need one each, not only pictures
  CallPassage before = {};    ///< how the call before went
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
struct ArrivalMail {
  Rank peer = no_rank;  ///< to whom
  std::vector<std::int64_t> words;
};

/// The words of the longest message among p ranks.
[[nodiscard]] constexpr std::size_t longest_arrival_mail(int p) {
  return 11 + most_choices + static_cast<std::size_t>(p);
}

/// What rank 0 does for all. Estimates that are missing when a version is due are made up from
/// how late a rank has been before (ArrivalHabits, of its estimates); a rank
/// that nothing is known of is expected just behind all others, and makes no picture.
///
/// The error that all go by is that of the worst rank: an order may be worse than the best one by
/// twice that (1|r_j|Cmax with wrong release dates), however well the others are known, and each
/// rank's own is a mean that no single call can move far.
class ArrivalCoordinator {
 public:
  explicit ArrivalCoordinator(int p);

  /// Takes a message that `from` made with its ArrivalMember, at `now` of the common clock, and
  /// appends what is to be sent, rank 0's own mail included. O(p) at most.
  void take(Rank from, const std::vector<std::int64_t>& words, double now,
            std::vector<ArrivalMail>& out);

  /// All ranks have said that they leave.
  [[nodiscard]] bool is_over() const { return left_ == p_; }
  /// Some rank wants a version for a call that has none yet. O(p).
  [[nodiscard]] bool owes_version() const;

 private:
  /// What the ranks have said about one call.
  struct Estimates {
    std::vector<double> arrivals;  ///< NaN where nothing
    Collective after = Collective::gather;
    std::vector<CallPassage> before;
  };

  void note_estimate(Rank from, const ArrivalEstimate& estimate, std::vector<ArrivalMail>& out);
  void keep(std::size_t rank, const ArrivalEstimate& estimate);
  void answer(CallNumber call, double now, std::vector<ArrivalMail>& out);
  void settle(CallNumber call, std::vector<ArrivalMail>& out);
  void make_version(const std::vector<double>& estimates, double not_before);
  [[nodiscard]] double worst_error() const;
  void picture(const Estimates& estimates, std::vector<ArrivalMail>& out);
  void measure(const std::vector<CallPassage>& passages, std::vector<ArrivalMail>& out);
  void change(const ArrivalPicture& picture, Collective after, std::vector<ArrivalMail>& out);
  void prolong(CallNumber call, std::vector<ArrivalMail>& out);
  void lease(CallNumber last, const ArrivalPicture* picture, Collective after,
             std::vector<ArrivalMail>& out);
  void publish(CallNumber first, CallNumber last, std::vector<ArrivalMail>& out);
  void send_to_all(const std::vector<std::int64_t>& words, std::vector<ArrivalMail>& out) const;

  int p_;
  int left_ = 0;
  ArrivalHabits habits_;
  std::vector<double> errors_;         ///< of each rank's forecasts; NaN: not known
  std::vector<Bytes> blocks_;          ///< the ranks' own
  std::vector<CallNumber> last_told_;  ///< the latest call that each rank has said anything about
  std::vector<CallNumber> wanted_;     ///< the latest call for which it wanted a version
  std::map<CallNumber, Estimates> open_;
  CallNumber settled_ = 0;      ///< nothing counts any more that is said about calls up to this one
  CallNumber granted_ = 0;      ///< calls up to this one have their version
  CallNumber unchanged_ = 0;    ///< calls granted since anything new was known
  bool learned_ = false;        ///< more is known than the newest version says
  std::int64_t version_ = 0;    ///< the newest
  std::int64_t published_ = 0;  ///< the newest that the ranks have been told
  std::vector<double> arrivals_;

  std::array<ArrivalOutlook, all_collectives.size()> outlooks_;  ///< by the call before
  std::array<CallTimer, all_collectives.size()> timers_;         ///< likewise
  bool has_leases_ = false;                                      ///< somebody goes by pictures
  CallNumber leased_ = 0;   ///< up to this call no picture changes any more
  CallNumber lease_ = 1;    ///< how many calls the next one is for
  CallNumber short_until_;  ///< leases do not grow up to this call
  std::int64_t pictures_ = 0;
};

/// One rank's side: makes its messages and keeps what the coordinator says.
class ArrivalMember {
 public:
  /// "I expect to arrive at that call then."
  [[nodiscard]] static std::vector<std::int64_t> estimate(const ArrivalEstimate& estimate);
  /// "I am at `call` and have no version for it."
  [[nodiscard]] static std::vector<std::int64_t> question(CallNumber call);
  /// "I am at `call` and do not know which pictures count."
  [[nodiscard]] static std::vector<std::int64_t> picture_question(CallNumber call);
  /// "I send nothing more."
  [[nodiscard]] static std::vector<std::int64_t> farewell();

  /// Takes a message of the coordinator.
  void take(const std::vector<std::int64_t>& words);

  /// The version for `call`, or null while this rank does not know it.
  [[nodiscard]] std::shared_ptr<const ArrivalVersion> version_for(CallNumber call) const;
  /// Sets `picture` to what counts for `call`, which follows a call of `after`: null where nothing
  /// is known of those. False while this rank does not know.
  bool find_picture(CallNumber call, Collective after,
                    std::shared_ptr<const ArrivalVersion>& picture) const;
  /// The last call of which this rank knows the pictures.
  [[nodiscard]] CallNumber leased() const { return leases_.empty() ? 0 : leases_.back().last; }
  /// The first call with the newest picture.
  [[nodiscard]] CallNumber changed() const { return changed_; }
  /// No earlier call will be asked for.
  void forget_before(CallNumber call);
  /// The newest version that this rank has heard of; never null.
  [[nodiscard]] std::shared_ptr<const ArrivalVersion> newest() const { return newest_; }
  /// The coordinator sends nothing more.
  [[nodiscard]] bool is_over() const { return over_; }

 private:
  struct Grant {
    CallNumber first;
    CallNumber last;
    std::shared_ptr<const ArrivalVersion> version;
  };

  using Pictures = std::array<std::shared_ptr<const ArrivalVersion>, all_collectives.size()>;
  struct Lease {
    CallNumber last;  ///< from the one before on
    Pictures pictures;
  };
  void take_lease(const std::vector<std::int64_t>& words);

  std::deque<Grant> grants_;
  std::deque<Lease> leases_;
  CallNumber changed_ = 0;
  std::shared_ptr<const ArrivalVersion> newest_ = std::make_shared<ArrivalVersion>();
  bool over_ = false;
};

}  // namespace tutti
