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
/// Messages between two ranks must arrive in the sequence in which they were sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// The number of a call on a communicator, from 1.
using CallNumber = std::int64_t;

/// When each rank is expected at a call, in seconds of which only differences count.
struct ArrivalVersion {
  std::int64_t number = 0;       ///< 0: nobody knows anything yet
  std::vector<double> arrivals;  ///< by rank; empty for version 0
  /// The how-many-eth each rank is, ties by rank: what any order by arrival depends on.
  std::vector<double> places;
};

/// A message of the agreement.
struct ArrivalMail {
  Rank peer = no_rank;  ///< to whom
  std::vector<std::int64_t> words;
};

/// The words of the longest message among p ranks.
[[nodiscard]] constexpr std::size_t longest_arrival_mail(int p) {
  return 4 + static_cast<std::size_t>(p);
}

/// What rank 0 does for all. Estimates that are missing when a version is due are made up from
/// how late a rank has been before (an exponentially weighted mean over its estimates); a rank
/// that nothing is known of is expected just behind all others.
class ArrivalCoordinator {
 public:
  explicit ArrivalCoordinator(int p);

  /// Takes a message that `from` made with its ArrivalMember, at `now` of the common clock, and
  /// appends what is to be sent, rank 0's own mail included. O(p) at most.
  void take(Rank from, const std::vector<std::int64_t>& words, double now,
            std::vector<ArrivalMail>& out);

  /// All ranks have said that they leave.
  [[nodiscard]] bool is_over() const { return left_ == p_; }

 private:
  /// What the ranks have said about one call; NaN where nothing.
  using Estimates = std::vector<double>;

  void note_estimate(Rank from, CallNumber call, double arrival, std::vector<ArrivalMail>& out);
  void answer(CallNumber call, double now, std::vector<ArrivalMail>& out);
  void settle(CallNumber call, std::vector<ArrivalMail>& out);
  void learn(const Estimates& estimates);
  void make_version(const Estimates& estimates, double not_before);
  void publish(CallNumber first, CallNumber last, std::vector<ArrivalMail>& out);
  void send_to_all(const std::vector<std::int64_t>& words, std::vector<ArrivalMail>& out) const;

  int p_;
  int left_ = 0;
  std::vector<double> lateness_;       ///< seconds behind the first; NaN: not known
  std::vector<CallNumber> last_told_;  ///< the latest call that each rank has said anything about
  CallNumber told_by_all_ = 0;         ///< the least of them
  std::ptrdiff_t last_;                ///< how many ranks are at the least
  std::map<CallNumber, Estimates> open_;
  CallNumber granted_ = 0;      ///< calls up to this one have their version
  CallNumber unchanged_ = 0;    ///< calls granted since anything new was known
  bool learned_ = false;        ///< more is known than the newest version says
  std::int64_t version_ = 0;    ///< the newest
  std::int64_t published_ = 0;  ///< the newest that the ranks have been told
  std::vector<double> arrivals_;
};

/// One rank's side: makes its messages and keeps what the coordinator says.
class ArrivalMember {
 public:
  /// "I expect to arrive at `call` at `arrival`."
  [[nodiscard]] static std::vector<std::int64_t> estimate(CallNumber call, double arrival);
  /// "I am at `call` and have no version for it."
  [[nodiscard]] static std::vector<std::int64_t> question(CallNumber call);
  /// "I send nothing more."
  [[nodiscard]] static std::vector<std::int64_t> farewell();

  /// Takes a message of the coordinator.
  void take(const std::vector<std::int64_t>& words);

  /// The version for `call`, or null while this rank does not know it.
  [[nodiscard]] std::shared_ptr<const ArrivalVersion> version_for(CallNumber call) const;
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

  std::deque<Grant> grants_;
  std::shared_ptr<const ArrivalVersion> newest_ = std::make_shared<ArrivalVersion>();
  bool over_ = false;
};

}  // namespace tutti
