/// Compares private results with results that the ranks of a node share.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>

#include "bench/mpi_commands.hpp"
#include "bench/mpi_table.hpp"
#include "bench/payload.hpp"
#include "tutti/tutti.h"

namespace tutti::bench {

namespace {

constexpr auto hierarchical = "hierarchical(native)";

/// A variant of an allgather.
struct Variant {
  const char* name;
  const char* specification;  ///< setting of an allgather with a receive buffer; empty: not Tutti's
  std::optional<int> mode;    ///< mode of a shared result
};
constexpr std::array variants = {
    Variant{"native", "", {}},
    Variant{"node", hierarchical, {}},
    Variant{"read_only", "", TUTTI_SHARED_READ_ONLY},
    Variant{"copy_on_write", "", TUTTI_COPY_ON_WRITE},
};

/// The use that a rank makes of a new result.
struct Use {
  const char* name;
  Bytes every = 0;  ///< touches one byte in every `every` pages; 0: none
  bool writes = false;
};
constexpr std::array uses = {Use{"not used"}, Use{"read", 1}, Use{"1 % written", 100, true},
                             Use{"written", 1, true}};

Bytes page_bytes() { return sysconf(_SC_PAGESIZE); }

/// Private pages of this process; the destructor returns them to the system.
class Pages : NotCopied {
 public:
  explicit Pages(Bytes bytes)
      : bytes_(static_cast<std::size_t>(bytes)),
        data_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Pages() {
    if (data_ != MAP_FAILED) munmap(data_, bytes_);
  }
  [[nodiscard]] void* data() const { return data_ == MAP_FAILED ? nullptr : data_; }

 private:
  std::size_t bytes_;
  void* data_;
};

/// An allgather of equal blocks, which keeps its result until the next `prepare`.
class SharedWorkload final : public Workload {
 public:
  SharedWorkload(const Job& job, Bytes block, MPI_Comm comm)
      : Workload(Collective::allgather),
        comm_(comm),
        rank_(job.rank()),
        p_(job.p()),
        block_(block),
        send_(static_cast<std::size_t>(block)) {}
  ~SharedWorkload() override { release(); }

  void prepare(std::uint32_t call) override {
    release();
    fill(send_, rank_, call);
  }
  int run(const Functions& functions) override { return gather(functions, block_); }
  int prime(const Functions& functions) override { return gather(functions, 0); }

  /// Compares the beginning of each block.
  [[nodiscard]] std::optional<Mismatch> check(std::uint32_t call) const override {
    const auto length = static_cast<std::size_t>(std::min(block_, page_bytes()));
    for (Rank rank = 0; rank < p_; ++rank) {
      const auto* const begin = static_cast<const std::byte*>(result_) + rank * block_;
      if (auto wrong = tutti::bench::check({begin, length}, rank, call)) return wrong;
    }
    return std::nullopt;
  }

  int obtain(const Variant& variant, const Functions& functions) {
    if (!variant.mode) return run(functions);
    const int count = static_cast<int>(block_);
    const int error = TUTTI_Allgather_shared(send_.data(), count, MPI_BYTE, count, MPI_BYTE, comm_,
                                             *variant.mode, &shared_);
    result_ = shared_;
    return error;
  }

  void use(const Use& use) {
    if (use.every == 0) return;
    auto* const bytes = static_cast<volatile char*>(result_);
    for (Bytes at = 0; at < p_ * block_; at += use.every * page_bytes()) {
      const char byte = bytes[at];
      if (use.writes) bytes[at] = byte;
    }
  }

  void release() {
    if (shared_ != nullptr) TUTTI_Shared_free(shared_);
    shared_ = nullptr;
  }
  /// Releases the result and the private copy.
  void release_all() {
    release();
    copy_.reset();
  }

 private:
  int gather(const Functions& functions, Bytes bytes) {
    if (!copy_) copy_.emplace(p_ * block_);
    result_ = copy_->data();
    if (result_ == nullptr) return MPI_ERR_NO_MEM;
    const int count = static_cast<int>(bytes);
    return functions.Allgather(send_.data(), count, MPI_BYTE, result_, count, MPI_BYTE, comm_);
  }

  MPI_Comm comm_;
  Rank rank_;
  int p_;
  Bytes block_;
  std::vector<std::byte> send_;
  std::optional<Pages> copy_;  ///< private receive buffer, made when first needed
  void* shared_ = nullptr;     ///< the shared result to release
  void* result_ = nullptr;     ///< the result of the last call
};

Functions functions_of(const Variant& variant) {
  return *variant.specification == '\0' ? native_functions() : tutti_functions();
}

/// The mean resident bytes of a rank; a page that n processes map counts 1/n to each. None if the
/// system does not report them.
std::optional<double> resident_of_a_rank(const Job& job) {
  job.barrier();  // all ranks have the memory to measure
  std::ifstream file("/proc/self/smaps_rollup");
  double kib = -1e18;
  for (std::string word; file >> word;) {
    if (word == "Pss:") file >> kib;
  }
  double sum = 0;
  MPI_Allreduce(&kib, &sum, 1, MPI_DOUBLE, MPI_SUM, job.control());
  if (sum < 0) return std::nullopt;
  return sum * 1024 / job.p();
}

/// The memory of one call on a new communicator: while its result is held, and after its release.
Result<Resident> resident(const Bench& bench, Bytes block, const Variant& variant, const Use& use) {
  if (*variant.specification != '\0') {
    if (const auto set = set_algorithm(Collective::allgather, variant.specification); !set) {
      return Error{set.error()};
    }
  }
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  SharedWorkload workload(bench.job, block, comm);
  workload.prepare(0);
  const auto before = resident_of_a_rank(bench.job);
  const int code = workload.obtain(variant, functions_of(variant));
  if (code != MPI_SUCCESS) bench.job.fail("MPI error code " + std::to_string(code));
  workload.use(use);
  const auto held = resident_of_a_rank(bench.job);
  workload.release_all();
  const auto kept = resident_of_a_rank(bench.job);
  MPI_Comm_free(&comm);
  if (!before || !held || !kept) return Error{"/proc/self/smaps_rollup has no Pss"};
  return Resident{*held - *before, *kept - *before};
}

/// Measures all variants for one block size and one use of the result.
Result<Row> measure_row(const Bench& bench, const Case& problem, const Use& use) {
  SharedWorkload workload(bench.job, problem.block, MPI_COMM_WORLD);
  std::vector<Contender> contenders;
  Row row = row_of(problem, std::string(name_of(bench.options.command)));
  row.distribution = use.name;
  std::vector<Resident> memory;
  for (const Variant& variant : variants) {
    if (use.writes && variant.mode == TUTTI_SHARED_READ_ONLY) continue;
    contenders.push_back({variant.name, variant.specification, &workload, functions_of(variant),
                          [&workload, &variant, &use] {
                            const int code = workload.obtain(variant, functions_of(variant));
                            if (code == MPI_SUCCESS) workload.use(use);
                            return code;
                          }});
  }
  const std::vector<Calls> calls = measure(bench, contenders, problem.block);
  workload.release_all();
  for (const Variant& variant : variants) {
    if (use.writes && variant.mode == TUTTI_SHARED_READ_ONLY) continue;
    const auto taken = resident(bench, problem.block, variant, use);
    if (!taken) return Error{taken.error()};
    memory.push_back(*taken);
  }
  if (bench.job.rank() == 0) row.lines = lines_of(contenders, calls, problem, nullptr);
  for (std::size_t i = 0; i < row.lines.size(); ++i) row.lines[i].resident = memory[i];
  return row;
}

}  // namespace

Result<bool> run_shared(const Bench& bench, Report* report) {
  const std::vector<Case> problems = cases_of(bench.options, bench.job.p(), 0);
  for (const Use& use : uses) {
    for (const Case& problem : problems) {
      Result<Row> row = measure_row(bench, problem, use);
      if (!row) return Error{row.error()};
      if (report != nullptr) report->add(std::move(*row));
    }
  }
  return true;
}

}  // namespace tutti::bench
