/// The process's log of calls, and how ranks join and write it.
#include "api/report.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <span>
#include <sstream>
#include <utility>

#include "api/environment.hpp"
#include "api/hooks.hpp"
#include "api/rma.hpp"
#include "report/content.hpp"
#include "run/arrival/mpi_clock.hpp"
#include "run/clock.hpp"
#include "run/file.hpp"
#include "run/mpi/exchange.hpp"
#include "run/mpi/owned_comm.hpp"
#include "run/mpi/quirks.hpp"
#include "run/process.hpp"
#include "run/processors.hpp"

namespace tutti {

namespace {

struct Recorder {
  std::mutex mutex;
  CallLog log;
  std::string mpi;  ///< its version, read while MPI runs
  pid_t process = 0;
  bool is_written = false;
  /// These are used without the mutex, before a communicator is used and when MPI ends only.
  ClockLine clock;
  int comparisons = 0;
  double clock_error = 0;  ///< the largest of the comparisons; seconds
};

constinit std::span<const CallCounter> counters;

std::vector<NamedCalls> other_calls() {
  std::vector<NamedCalls> calls;
  for (const CallCounter& counter : counters) {
    const std::uint64_t number = __atomic_load_n(&counter.calls, __ATOMIC_RELAXED);
    if (number > 0) calls.push_back({counter.function, static_cast<std::int64_t>(number)});
  }
  return calls;
}

/// Since this process started, by the system's clocks; 0 if unknown. Steps of 10 ms.
double seconds_since_start() {
  const Result<std::string> text = read_text_file("/proc/self/stat", 4096);
  if (!text) return 0;
  // The program's name, the second field, may contain blanks.
  std::istringstream fields(text->substr(text->rfind(')') + 1));
  std::string field;
  constexpr int start_time = 22;
  for (int number = 3; number <= start_time; ++number) fields >> field;
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  return seconds_of(now) - std::strtod(field.c_str(), nullptr) / ticks;
}

/// This process's summary with its wall time and the calls that Tutti passed on.
Summary own_summary(const Recorder& all, const ProcessLocation& location) {
  Summary own = summarise(all.log, location, site_name);
  own.destination = environment().report;
  own.wall_sum = seconds_since_start();
  own.others = other_calls();
  return own;
}

constexpr int summary_tag = 0;
constexpr std::size_t largest_message = std::size_t{1} << 30;

template <class Pointer, class Transfer>
int in_pieces(Pointer data, std::size_t size, Transfer transfer) {
  int error = MPI_SUCCESS;
  for (std::size_t at = 0; at < size && error == MPI_SUCCESS; at += largest_message) {
    error = transfer(data + at, std::min(largest_message, size - at));
  }
  return error;
}

void send_summary(const Summary& summary, Rank to, MPI_Comm comm) {
  const std::vector<std::byte> bytes = to_bytes(summary);
  const std::uint64_t size = bytes.size();
  if (send_yielding(&size, sizeof size, to, summary_tag, comm) != MPI_SUCCESS) return;
  in_pieces(bytes.data(), bytes.size(), [&](const std::byte* data, std::size_t count) {
    return send_yielding(data, count, to, summary_tag, comm);
  });
}

void join_summary(Summary& summary, Rank from, MPI_Comm comm) {
  std::uint64_t size = 0;
  if (receive_yielding(&size, sizeof size, from, summary_tag, comm) != MPI_SUCCESS) return;
  std::vector<std::byte> bytes(size);
  const int error = in_pieces(bytes.data(), bytes.size(), [&](std::byte* data, std::size_t count) {
    return receive_yielding(data, count, from, summary_tag, comm);
  });
  auto theirs = error == MPI_SUCCESS ? summary_from_bytes(bytes) : std::nullopt;
  if (theirs) join(summary, std::move(*theirs));
}

/// Compares all clocks with rank 0's. False if the MPI fails.
bool compare_clocks(MPI_Comm comm, Recorder& all) {
  MpiClock clock;  // a new one: error() of one that compares again counts the drift
  bool is_ready = false;
  if (clock.synchronise(comm, is_ready) != MPI_SUCCESS || !is_ready) return false;
  const double now = monotonic_seconds();
  all.clock.compare(now, clock.offset_at(now));
  all.clock_error = std::max(all.clock_error, clock.error());
  ++all.comparisons;
  return true;
}

/// Nodes are identified by the world rank of their leader; their clocks are not compared yet.
bool find_location(MPI_Comm world, ProcessLocation& location) {
  MPI_Comm node = mpi().comm_null;
  int error = mpi().Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, mpi().info_null, &node);
  if (error != MPI_SUCCESS) return false;
  location.node = location.rank;
  location.is_leader = rank_in(node) == 0;
  if (size_of(node) < size_of(world)) location.clock_error = -1;
  error = take_from_first(location.node, node);
  mpi().Comm_free(&node);
  return error == MPI_SUCCESS;
}

/// Joins the summaries of the ranks of MPI_COMM_WORLD, in ceil(log2 p) rounds up a binomial tree
/// over a private duplicate. Collective. Rank 0 gets the whole, without what the MPI failed to
/// deliver; all others get nothing.
std::optional<Summary> collect(Recorder& all) {
  OwnedComm duplicate;
  if (OwnedComm::duplicate(mpi().comm_world, duplicate) != MPI_SUCCESS) return std::nullopt;
  const MPI_Comm world = duplicate.handle();
  const int p = size_of(world);
  const Rank rank = rank_in(world);
  ProcessLocation location;
  location.rank = rank;
  if (!find_location(world, location)) return std::nullopt;
  if (compare_clocks(world, all)) {
    location.common = [&all](double time) { return time - all.clock.offset_at(time); };
    location.clock_error = all.clock_error;
    location.clock_drift = all.comparisons > 1;
    location.node = 0;
  }
  Summary summary = own_summary(all, location);
  for (Rank step = 1; step < p; step *= 2) {
    if ((rank & step) != 0) {
      send_summary(summary, rank - step, world);
      return std::nullopt;
    }
    if (rank + step < p) join_summary(summary, rank + step, world);
  }
  return summary;
}

/// The largest number in these variables; 0 without one.
long number_in(std::initializer_list<const char*> variables) {
  long number = 0;
  for (const char* variable : variables) {
    const char* value = std::getenv(variable);
    if (value != nullptr) number = std::max(number, std::strtol(value, nullptr, 10));
  }
  return number;
}

/// Ranks that do not find their launcher are 1 rank each.
void note_single_rank(ReportContent& content) {
  const long started = number_in({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"});
  if (content.ranks != 1 || started <= 1) return;
  content.notes.push_back("this is 1 rank of its own, though the launcher started " +
                          std::to_string(started) +
                          ": the program uses another MPI than the launcher");
}

void complain(const std::string& destination, const char* why) {
  std::fprintf(stderr, "tutti: cannot write the report to TUTTI_REPORT=%s: %s\n",
               destination.c_str(), why);
}

/// Is the file of this name still the one that is open?
bool has_name(const struct stat& open_file, const std::string& name) {
  struct stat named {};
  return stat(name.c_str(), &named) == 0 && named.st_dev == open_file.st_dev &&
         named.st_ino == open_file.st_ino;
}

/// Was an open file last written before this process started, by the clock of the file system?
/// False if that is unknown.
bool is_of_former_run(int file, const struct stat& about) {
  const double running = seconds_since_start();
  struct stat touched {};
  if (running <= 0 || futimens(file, nullptr) != 0 || fstat(file, &touched) != 0) return false;
  const std::array<timespec, 2> before = {about.st_atim, about.st_mtim};
  futimens(file, before.data());
  constexpr double resolution = 0.02;  // of both clocks, in seconds
  return seconds_of(touched.st_mtim) - seconds_of(about.st_mtim) > running - resolution;
}

/// Opens the file of a report: empty, or to append to other processes' reports of this run. Then it
/// is locked: programs that end together write one after the other, and each keeps the report of
/// the one before. Below 0: errno.
int open_output(const std::string& destination, bool appends) {
  const int how = O_WRONLY | O_CREAT | (appends ? O_APPEND : 0);
  constexpr int attempts = 100;
  for (int attempt = 1;; ++attempt) {
    // If the file has become a pipe since, do not wait for a reader.
    const int file = open(destination.c_str(), how | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (file < 0) return file;
    fcntl(file, F_SETFL, how);
    struct stat about {};
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) return file;
    flock(file, LOCK_EX);
    fstat(file, &about);
    const bool is_former = about.st_size > 0 && (!appends || is_of_former_run(file, about));
    const bool is_named = has_name(about, destination);
    const bool is_last = attempt == attempts;  // the former report cannot be kept
    if (is_last || (is_named && !is_former)) {
      if (appends || ftruncate(file, 0) == 0) return file;
      const int why = errno;
      close(file);
      errno = why;
      return -1;
    }
    const std::string kept = is_named ? keep_former(destination) : "";
    if (!kept.empty()) {
      std::fprintf(stderr, "tutti: kept the former report as %s\n", kept.c_str());
    }
    close(file);
  }
}

/// `is_part`: other processes write theirs into the same file.
void put(ReportContent content, const std::string& named, bool is_part) {
  const std::string destination = expanded(named);
  content.program = path_of_program();
  content.modules = modules_of_sites();
  note_single_rank(content);
  const std::string text = destination.ends_with(".json") ? to_json(content) : to_text(content);
  if (destination == "-") {
    write_all(STDERR_FILENO, text);
    return;
  }
  const std::string why = why_no_output(destination);
  if (!why.empty()) return complain(destination, why.c_str());
  const int file = open_output(destination, is_part);
  if (file < 0) return complain(destination, std::strerror(errno));
  if (!write_all(file, text)) complain(destination, std::strerror(errno));
  close(file);
}

/// `ranks` is 0 if the number of processes is unknown.
void put_own(const Recorder& all, int ranks) {
  const Summary summary = own_summary(all, {});
  if (summary.destination.empty()) return;
  const bool is_empty = summary.calls.empty();
  int rank = is_empty ? -1 : 0;
  if (is_empty && ranks > 0) rank = rank_in(mpi().comm_world);
  if (rank != 0) return;
  const std::string who = "process " + std::to_string(getpid()) + " on " + host_name();
  ReportContent content =
      content_of(summary, is_empty ? library_version() : all.mpi, is_empty ? "" : who);
  content.ranks = ranks;
  content.nodes.reset();
  if (is_empty) content.notes.push_back("rank 0 recorded no collective call that Tutti handles");
  put(std::move(content), summary.destination, true);
}

/// For programs that end without MPI_Finalize, or only use sessions. MPI may have ended. Runs when
/// the process unloads its libraries, so that a program may call MPI_Finalize in its own handlers
/// of atexit and static destructors.
[[gnu::destructor]] void write_at_exit() {
  Recorder& all = of_process<Recorder>();
  const std::unique_lock lock(all.mutex, std::try_to_lock);
  // A child process that was forked later has the log of its parent.
  if (!lock.owns_lock() || all.is_written || all.process != getpid()) return;
  all.is_written = true;
  try {
    put_own(all, 0);
  } catch (const std::exception& error) {
    complain(environment().report, error.what());
  }
}

}  // namespace

std::uint64_t new_communicator_id() {
  static std::atomic<std::uint64_t> count{0};
  static const std::uint64_t process = std::hash<std::string>()(
      host_name() + ":" + std::to_string(getpid()) + ":" + std::to_string(monotonic_seconds()));
  // An odd factor keeps the ids of a process apart; the hash keeps those of processes apart.
  return process + ++count * 0x9E3779B97F4A7C15U;
}

void set_counters(std::span<const CallCounter> all) { counters = all; }

void record_call(const CallRecord& record) noexcept {
  Recorder& all = of_process<Recorder>();
  try {
    const std::lock_guard lock(all.mutex);
    if (all.process == 0) {
      all.process = getpid();
      all.mpi = library_version();
    }
    all.log.add(record);
  } catch (const std::bad_alloc&) {
    // The call itself succeeded on all ranks; it is only missing in the report.
  }
}

void record_tuning(TuningRecord record) {
  Recorder& all = of_process<Recorder>();
  const std::lock_guard lock(all.mutex);
  all.log.add(std::move(record));
}

void note_clocks(MPI_Comm comm) {
  Recorder& all = of_process<Recorder>();
  if (all.comparisons == 0) compare_clocks(comm, all);
}

void write_report(bool all_ranks) noexcept {
  Recorder& all = of_process<Recorder>();
  const std::lock_guard lock(all.mutex);
  all.is_written = true;
  try {
    if (!all_ranks) return put_own(all, size_of(mpi().comm_world));
    const std::optional<Summary> whole = collect(all);
    if (!whole) return;
    ReportContent content = content_of(*whole, library_version());
    content.one_sided = progress_of_rma();
    put(std::move(content), whole->destination, false);
  } catch (const std::exception& error) {
    complain(environment().report, error.what());
  }
}

}  // namespace tutti
