/// Communicators as attributes, their decisions, and the end of MPI.
#include "api/communicator.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <vector>

#include "api/known.hpp"
#include "api/report.hpp"
#include "api/rma.hpp"
#include "api/selections.hpp"
#include "run/mpi/end.hpp"
#include "run/mpi/exchange.hpp"
#include "run/mpi/quirks.hpp"
#include "run/process.hpp"

namespace tutti {

namespace {

/// The process's communicators: keyval, live ones in the sequence of their making.
struct Registry {
  std::mutex mutex;
  std::shared_mutex making_keyval;
  std::atomic<int> keyval = MPI_KEYVAL_INVALID;  ///< of the attribute, once it can be used
  std::atomic<bool> watches_end{false};
  std::atomic<bool> reports_world{false};  ///< a communicator of the world's processes is reported
  std::vector<std::shared_ptr<Communicator>> live;
};

/// Notes what its tuners have learned, for later runs, if this process keeps that.
void keep_learned(Communicator& communicator) {
  if (keeps_rules()) note_learned(communicator.selections().tuned.learned());
}

std::shared_ptr<Communicator> take_live(const void* communicator) {
  Registry& all = of_process<Registry>();
  const std::lock_guard lock(all.mutex);
  const auto found =
      std::ranges::find(all.live, communicator, [](const auto& one) { return one.get(); });
  std::shared_ptr<Communicator> taken = std::move(*found);
  all.live.erase(found);
  return taken;
}

/// Without a world MPI ends with the last session, and its keyvals end with it: the next session
/// may give their numbers to others.
void forget_keyval() {
  Registry& all = of_process<Registry>();
  if (has_world()) return;
  // Without waiting: another thread may hold it and wait for a lock of the MPI, which holds that
  // here. Then its communicator keeps the keyval.
  const std::unique_lock lock(all.making_keyval, std::try_to_lock);
  if (!lock.owns_lock()) return;
  {
    const std::lock_guard of_live(all.mutex);
    if (!all.live.empty()) return;
  }
  int keyval = all.keyval.exchange(MPI_KEYVAL_INVALID);
  if (keyval != MPI_KEYVAL_INVALID) mpi().Comm_free_keyval(&keyval);
}

/// MPI calls this when the program frees a communicator.
int free_with_communicator(MPI_Comm, int, void* attribute, void*) {
  const std::shared_ptr<Communicator> communicator = take_live(attribute);
  forget_keyval();
  communicator->note_freed();
  attempt([&] {
    communicator->selections().record_candidates();
    if (!is_end_of_mpi()) keep_learned(*communicator);
  });
  attempt([&] { communicator->close(); });
  return MPI_SUCCESS;
}

int copy_nothing(MPI_Comm, int, void*, void*, void*, int* copies) {
  *copies = 0;
  return MPI_SUCCESS;
}

/// Writes the report and closes what is open on all communicators, while MPI works and all ranks
/// are here.
void close_all() {
  Registry& all = of_process<Registry>();
  std::vector<std::shared_ptr<Communicator>> live;
  {
    const std::lock_guard lock(all.mutex);
    live = all.live;
  }
  const bool reports_world = all.reports_world;
  for (const auto& communicator : live) communicator->selections().record_candidates();
  // Launchers may pass different environments to ranks: collective steps follow from agreed
  // settings.
  if (reports_world || !environment().report.empty()) write_report(reports_world);
  // Round by round, because other ranks may close these communicators in another sequence.
  for (bool all_left = false; !all_left;) {
    all_left = true;
    for (const auto& communicator : live) {
      all_left = communicator->try_close_arrival() && all_left;
    }
    if (!all_left) sched_yield();
  }
  for (const auto& communicator : live) {
    keep_learned(*communicator);
    communicator->close();
  }
}

/// MPI calls this at the start of MPI_Finalize, when it deletes the attributes of MPI_COMM_SELF:
/// for programs whose calls of MPI_Finalize do not pass through Tutti.
int at_end_of_mpi(MPI_Comm, int, void*, void*) {
  prepare_end_of_mpi();
  return MPI_SUCCESS;
}

void watch_end_of_mpi() {
  Registry& all = of_process<Registry>();
  // Programs that only use sessions have no MPI_COMM_SELF to watch.
  if (all.watches_end || !has_world()) return;
  int keyval = MPI_KEYVAL_INVALID;
  if (mpi().Comm_create_keyval(copy_nothing, at_end_of_mpi, &keyval, nullptr) != MPI_SUCCESS)
    return;
  all.watches_end = mpi().Comm_set_attr(mpi().comm_self, keyval, nullptr) == MPI_SUCCESS;
}

/// Makes the keyval of the attribute, unless there is one. Returns an MPI error code.
int make_keyval() {
  Registry& all = of_process<Registry>();
  const std::lock_guard lock(all.making_keyval);
  watch_end_of_mpi();  // a world may have begun since the keyval was made
  if (all.keyval != MPI_KEYVAL_INVALID) return MPI_SUCCESS;
  int keyval = MPI_KEYVAL_INVALID;
  const int error =
      mpi().Comm_create_keyval(copy_nothing, free_with_communicator, &keyval, nullptr);
  if (error == MPI_SUCCESS) all.keyval.store(keyval, std::memory_order_release);
  return error;
}

/// Sets `found` to whether processes of another MPI_COMM_WORLD belong to the communicator, which
/// were spawned or connected. If so, each rank finds some, because those of every world do. Local.
/// Returns an MPI error code.
int find_outsiders(MPI_Comm comm, int p, bool& found) {
  found = false;
  if (p == 1 || !has_world()) return MPI_SUCCESS;
  const int inside = size_of(mpi().comm_world);
  int compared = MPI_UNEQUAL;
  int error = p == inside ? mpi().Comm_compare(comm, mpi().comm_world, &compared) : MPI_SUCCESS;
  found = p >= inside && compared == MPI_UNEQUAL;
  if (error != MPI_SUCCESS || p >= inside) return error;
  MPI_Group group = mpi().group_null;
  MPI_Group world = mpi().group_null;
  std::vector<Rank> ranks(static_cast<std::size_t>(p));
  std::vector<Rank> there(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  error = mpi().Comm_group(comm, &group);
  if (error == MPI_SUCCESS) error = mpi().Comm_group(mpi().comm_world, &world);
  if (error == MPI_SUCCESS) {
    error = mpi().Group_translate_ranks(group, p, ranks.data(), world, there.data());
    found = std::ranges::count(there, MPI_UNDEFINED) > 0;
  }
  for (MPI_Group* each : {&group, &world}) {
    if (*each != mpi().group_null) mpi().Group_free(each);
  }
  return error;
}

}  // namespace

void prepare_end_of_mpi() {
  if (!note_end_of_mpi()) return;
  attempt([] {
    close_all_rma();
    close_all();
    write_kept();
  });
  Background::of_process().stop();
}

void Communicator::note_change() {
  ++this_process.generation;
  for (tutti_passing*& record : this_process.recent.load()->records) {
    __atomic_store_n(&record, &no_passing_calls, __ATOMIC_SEQ_CST);
  }
}

Communicator::Communicator() : selections_(std::make_unique<Selections>(*this)) {}
Communicator::~Communicator() = default;

Communicator* Communicator::known(MPI_Comm comm) {
  if (Communicator* const communicator = of_late(comm)) return communicator;
  Registry& all = of_process<Registry>();
  std::shared_lock<std::shared_mutex> lock;
  if (!all.watches_end) lock = std::shared_lock(all.making_keyval);  // see forget_keyval
  const int keyval = all.keyval.load(std::memory_order_acquire);
  if (keyval == MPI_KEYVAL_INVALID) return nullptr;
  void* attribute = nullptr;
  int found = 0;
  mpi().Comm_get_attr(comm, keyval, &attribute, &found);
  return found == 0 ? nullptr : static_cast<Communicator*>(attribute);
}

bool Communicator::let_pass(const Decision& usual, Collective collective) {
  // The program's error handler may have changed the setting.
  const bool is_current =
      selections_->is_usual(usual, collective) && usual.epoch == times_overruled(collective);
  if (!is_current || !usual.is_native() || is_reported() || arrival_ != nullptr ||
      wants_background() || (private_ != nullptr && private_->receives_unexpected())) {
    return false;
  }
  stop_passing(collective);
  constexpr std::uint64_t most = 1U << 30;
  using NextCalls = TunedSelection::NextCalls;
  const NextCalls next = usual.is_tuned ? selections_->tuned.next_calls(collective)
                                        : NextCalls{!usual.is_deferred(), 0, most};
  using Which = PassingCalls::Which;
  Which which = Which::none;
  if (next.all_native && next.to_note == 0) {
    which = usual.needs_commutativity ? Which::none : Which::all;
  } else if (next.to_note > 0) {
    which = Which::noted;
  } else if (is_block_common(collective)) {
    which = Which::known;
  } else if (selections_->may_pass(usual, collective, {}, 0)) {
    which = Which::all_counted;  // sizes decide nothing
  }
  static_assert(Tuner::window <= PassingCalls::max_notes);
  const std::uint64_t calls = next.to_note > 0 ? next.to_note : std::min(most, next.passing);
  passing_.let(collective, which, usual.is_tuned, static_cast<std::uint32_t>(calls));
  return passing_.is_by_signature(collective);
}

const std::string& Communicator::last(Collective collective) {
  const CallSize* const passed = passing_.latest(collective);
  return passed == nullptr ? last_[collective] : selections_->text_of(collective, *passed);
}

void Communicator::stop_passing(Collective collective) {
  selections_->tuned.count_passed(collective, passing_.stop(collective));
}

void Communicator::stop_passing() {
  for (const Collective collective : all_collectives) stop_passing(collective);
  passing_.follow(generation());
}

Communicator* Communicator::of(MPI_Comm comm, int& error) {
  error = MPI_SUCCESS;
  if (Communicator* communicator = known(comm)) return communicator;
  std::shared_ptr<Communicator> made;
  error = create(comm, made);
  if (error != MPI_SUCCESS) return nullptr;
  Registry& all = of_process<Registry>();
  {
    // Never hold this while calling MPI, which calls back when a communicator is freed.
    const std::lock_guard lock(all.mutex);
    all.live.push_back(made);  // from now on the keyval stays
  }
  error = make_keyval();
  if (error != MPI_SUCCESS) {
    take_live(made.get());
    return nullptr;
  }
  int compared = MPI_UNEQUAL;
  if (made->is_reported() && all.watches_end) {
    // Spawned and merged processes may be as many as the world's, and yet others.
    mpi().Comm_compare(comm, mpi().comm_world, &compared);
    // All ranks come here for this communicator, whatever their threads do with others.
    if (compared == MPI_IDENT) note_clocks(comm);
  }
  if (compared != MPI_UNEQUAL) all.reports_world = true;
  // Last, because nothing may throw once the attribute has it.
  error = mpi().Comm_set_attr(comm, all.keyval, made.get());
  if (error == MPI_SUCCESS) {
    made->record_.set(comm, made.get());
    return made.get();
  }
  take_live(made.get());
  return nullptr;
}

int Communicator::create(MPI_Comm comm, std::shared_ptr<Communicator>& made) {
  made.reset(new Communicator);
  made->comm_ = comm;
  int inter = 0;
  int error = mpi().Comm_test_inter(comm, &inter);
  if (error == MPI_SUCCESS) error = mpi().Comm_rank(comm, &made->rank_);
  if (error == MPI_SUCCESS) error = mpi().Comm_size(comm, &made->p_);
  made->native_ = inter != 0;
  if (error == MPI_SUCCESS && inter == 0) error = find_outsiders(comm, made->p_, made->native_);
  return error == MPI_SUCCESS && !made->native_ ? made->agree() : error;
}

void Communicator::give_up_private(int error) {
  if (private_ != nullptr) private_->leak();
  private_.reset();
  private_error_ = error == MPI_SUCCESS ? MPI_ERR_OTHER : error;
}

int Communicator::open_private() {
  int error = private_error_;
  // How its calls wait depends on whether ranks share processors.
  if (private_ == nullptr && error == MPI_SUCCESS) error = selections_->nodes.guess();
  if (private_ == nullptr && error == MPI_SUCCESS) {
    error = PrivateComm::duplicate(comm_, plan_settings(), private_);
    if (error == OwnedComm::unmatched) private_error_ = error;
    passing_.take_uncounted();  // ranks count calls from now on
  }
  if (private_ != nullptr) count_passed();
  return error;
}

int Communicator::rank_orders(const Specification& specification, Rank root,
                              const RankOrders*& found, const Nodes* nodes) {
  found = nullptr;
  // A rank with an invalid root takes no part, as in the MPI's own call (docs/limitations.md).
  if (!specification.needs_distances() || root < 0 || root >= p_) return MPI_SUCCESS;
  int error = open_distances();
  DistanceOrders* known = distances_.get();
  if (error == MPI_SUCCESS && nodes != nullptr) error = known->between(*nodes, known);
  if (error != MPI_SUCCESS || known == nullptr) return error;
  return known->rank_orders(specification, nodes == nullptr ? root : nodes->node_of(root), found);
}

int Communicator::open_distances(std::shared_ptr<const DistanceFile> distances) {
  if (distances_ != nullptr) return MPI_SUCCESS;
  if (distances == nullptr && rank_ == 0) distances = known_distances();
  return DistanceOrders::open(comm_, machine(), std::move(distances), distances_);
}

int Communicator::open_hierarchical() {
  const int error = open_private();
  if (error != MPI_SUCCESS || hierarchical_ != nullptr) return error;
  return HierarchicalRunner::open(private_->handle(), selections_->nodes.guessed(), node_settings_,
                                  plan_settings(), hierarchical_);
}

int Communicator::open_arrival() {
  // Other libraries may call collectives in MPI_Finalize, on all ranks.
  if (arrival_ != nullptr || is_end_of_mpi()) return MPI_SUCCESS;
  stop_passing();
  if (const int error = Arrival::open(comm_, arrival_)) return error;
  bool is_ready = false;
  return selections_->nodes.open_flat(is_ready);
}

void Communicator::note_refusal(Collective collective, const Decision& decision,
                                const std::string& why) {
  const Specification* const flat = decision.when_flat();
  const std::string name = flat != nullptr ? to_text(*flat) : "native";
  note_algorithm(collective, name + ": runs flat because " + why);
}

bool Communicator::try_close_arrival() {
  if (arrival_ == nullptr) return true;
  if (!arrival_->try_close()) return false;
  arrival_.reset();
  selections_->tuned.forget_profiles();
  return true;
}

void Communicator::close_arrival() {
  while (!try_close_arrival()) sched_yield();
}

void Communicator::end_exchanges() {
  close_arrival();
  // Some MPIs delete attributes in calls of the background thread, or under locks that it waits
  // for.
  if (private_ != nullptr) private_->end_receiving();
  selections_->tuned.end_agreements();
}

/// Agreements last: to end them may free a communicator that the program has freed unseen.
void Communicator::close() {
  stop_passing();
  close_arrival();
  hierarchical_.reset();
  private_.reset();
  selections_->tuned.end_learning();
  selections_->tuned.end_agreements();
}

}  // namespace tutti
