/// One-sided scatters, gathers and reductions, and all kinds of operations at once.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "layouts.hpp"
#include "rma_window.hpp"

namespace tutti::test {
namespace {

/// Elements that identify the root, the operation and the source or target rank.
std::vector<int> block_of(int root, int operation, int rank, int count) {
  std::vector<int> block(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    block[static_cast<std::size_t>(i)] = ((root * 61 + operation) * 67 + rank) * 1009 + i;
  }
  return block;
}

std::vector<int> all_blocks(int p, int root, int operation, int count) {
  std::vector<int> all;
  for (int rank = 0; rank < p; ++rank) {
    const auto block = block_of(root, operation, rank, count);
    all.insert(all.end(), block.begin(), block.end());
  }
  return all;
}

/// A window of ints with a separate region for each rank's operations.
class Ints {
 public:
  Ints(Context& context, std::size_t count)
      : context_(context), window_(context, Flavour::create, count * sizeof(int), sizeof(int)) {}

  [[nodiscard]] int* at(std::size_t offset) const {
    return reinterpret_cast<int*>(window_.base()) + offset;
  }
  [[nodiscard]] Registered& window() { return window_; }
  [[nodiscard]] TUTTI_Rma_request bcast(const std::vector<int>& data, std::size_t offset) {
    TUTTI_Rma_request request = TUTTI_RMA_REQUEST_NULL;
    expect(context_,
           TUTTI_Rma_bcast(data.data(), static_cast<int>(data.size()), MPI_INT,
                           static_cast<MPI_Aint>(offset), window_.window(), &request),
           "TUTTI_Rma_bcast");
    return request;
  }
  [[nodiscard]] TUTTI_Rma_request scatter(const std::vector<int>& data, std::size_t offset) {
    TUTTI_Rma_request request = TUTTI_RMA_REQUEST_NULL;
    expect(context_,
           TUTTI_Rma_scatter(data.data(), static_cast<int>(data.size()) / context_.size(), MPI_INT,
                             static_cast<MPI_Aint>(offset), window_.window(), &request),
           "TUTTI_Rma_scatter");
    return request;
  }
  [[nodiscard]] TUTTI_Rma_request gather(std::vector<int>& data, std::size_t offset) {
    TUTTI_Rma_request request = TUTTI_RMA_REQUEST_NULL;
    expect(context_,
           TUTTI_Rma_gather(data.data(), static_cast<int>(data.size()) / context_.size(), MPI_INT,
                            static_cast<MPI_Aint>(offset), window_.window(), &request),
           "TUTTI_Rma_gather");
    return request;
  }
  [[nodiscard]] TUTTI_Rma_request reduce(std::vector<int>& data, MPI_Op op, std::size_t offset) {
    TUTTI_Rma_request request = TUTTI_RMA_REQUEST_NULL;
    expect(context_,
           TUTTI_Rma_reduce(data.data(), static_cast<int>(data.size()), MPI_INT, op,
                            static_cast<MPI_Aint>(offset), window_.window(), &request),
           "TUTTI_Rma_reduce");
    return request;
  }

 private:
  Context& context_;
  Registered window_;
};

std::vector<int> combined(int p, int operation, int count, MPI_Op op) {
  std::vector<int> result = block_of(0, operation, 0, count);
  for (int rank = 1; rank < p; ++rank) {
    const auto other = block_of(0, operation, rank, count);
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = op == MPI_SUM ? result[i] + other[i] : std::max(result[i], other[i]);
    }
  }
  return result;
}

/// Empty if the last operation of this rank used the algorithm of that name.
std::string ran_another(MPI_Comm comm, const char* collective, const std::string& name) {
  const std::string ran = last_run(comm, collective);
  const bool good =
      name == "auto" ? ran.find(": ") != ran.npos : ran.starts_with(name + ": requested");
  return good ? "" : "ran '" + ran + "', not " + name;
}

/// Scatters to the windows, then gathers and reduces their contents, along every tree.
void there_and_back(Context& context) {
  if (!can_run(context)) return;
  constexpr std::array sizes = {0, 1, 7, 64, 65, 3000};
  const int p = context.size();
  Ints ints(context, 4000);
  std::vector<long long> numbers(static_cast<std::size_t>(p), 0);
  constexpr std::array<std::pair<const char*, const char*>, 5> names = {
      {{"auto", "auto"},
       {"linear", "linear:nodes=on"},
       {"binomial", "binomial:nodes=on"},
       {"binomial:order=natural", "knomial:k=3,order=arrival,nodes=on"},
       {"knomial:k=3", "knomial:k=3"}}};
  for (const auto& [name, combining] : names) {
    const Forced scatter(context, "rma_scatter", name);
    const Forced gather(context, "rma_gather", name);
    const Forced reduce(context, "rma_reduce", combining);
    for (int root = 0; root < p; ++root) {
      std::size_t offset =
          3;  // different for each size, so that ranks need not wait for each other
      for (const int count : sizes) {
        context.step(std::string(name) + " from " + std::to_string(root) + " of " +
                     std::to_string(count));
        const auto blocks = all_blocks(p, 0, count, count);
        long long& number = numbers[static_cast<std::size_t>(root)];
        if (context.rank() == root) ints.window().flush(ints.scatter(blocks, offset));
        ints.window().wait(root, ++number);
        const auto mine = block_of(0, count, context.rank(), count);
        if (!std::equal(mine.begin(), mine.end(), ints.at(offset))) context.fail("scattered");
        if (context.rank() == root) {
          context.expect_empty(ran_another(ints.window().comm(), "rma_scatter", name));
          std::vector<int> back(blocks.size(), -1);
          std::vector<int> sum(mine.size(), -1);
          std::vector<int> most(mine.size(), -1);
          const auto first = ints.gather(back, offset);
          const auto second = ints.reduce(sum, MPI_SUM, offset);
          const auto third = ints.reduce(most, MPI_MAX, offset);
          for (const auto request : {first, second, third}) ints.window().flush(request);
          if (back != blocks) context.fail("gathered");
          if (sum != combined(p, count, count, MPI_SUM)) context.fail("summed");
          if (most != combined(p, count, count, MPI_MAX)) context.fail("the greatest");
        }
        number += 3;
        ints.window().wait(root, number);
        if (!std::equal(mine.begin(), mine.end(), ints.at(offset))) {
          context.fail("collecting has changed a window");
        }
        offset += static_cast<std::size_t>(count);
      }
      PMPI_Barrier(ints.window().comm());
    }
  }
}

/// Scatters from and gathers to MPI_BOTTOM, by types of absolute addresses.
void absolute_addresses(Context& context) {
  if (!can_run(context)) return;
  constexpr int count = 100;
  Ints ints(context, count);
  if (context.rank() == 0) {
    const auto blocks = all_blocks(context.size(), 0, 1, count);
    std::vector<int> back(blocks.size(), -1);
    const FromBottom from(MPI_INT, blocks.data());
    const FromBottom to(MPI_INT, back.data());
    TUTTI_Rma_request request = TUTTI_RMA_REQUEST_NULL;
    const TUTTI_Window window = ints.window().window();
    expect(context, TUTTI_Rma_scatter(MPI_BOTTOM, count, from.type(), 0, window, &request),
           "TUTTI_Rma_scatter");
    ints.window().flush(request);
    expect(context, TUTTI_Rma_gather(MPI_BOTTOM, count, to.type(), 0, window, &request),
           "TUTTI_Rma_gather");
    ints.window().flush(request);
    if (back != blocks) context.fail("gathered");
  }
  ints.window().wait(0, 2);
  const auto mine = block_of(0, 1, context.rank(), count);
  if (!std::equal(mine.begin(), mine.end(), ints.at(0))) context.fail("scattered");
}

/// Trees of leaders, for every root and for several process mappings.
void along_leaders(Context& context) {
  if (!can_run(context)) return;
  constexpr std::array<std::pair<const char*, const char*>, 3> names = {
      {{"binomial:nodes=on", "binomial:nodes=on"},
       {"chain:parts=3,nodes=on", "knomial:k=3,order=arrival,nodes=on"},
       {"linear:nodes=on,carry=0", "linear:nodes=on"}}};
  constexpr int count = 9000;  // more than the capacity of a notification
  const int p = context.size();
  Ints ints(context, count);
  for (int root = 0; root < p; root += std::max(p - 1, 1)) {
    long long number = 0;
    for (const auto& [name, combining] : names) {
      context.step(std::string(name) + " from " + std::to_string(root));
      const Forced bcast(context, "rma_bcast", name);
      const Forced reduce(context, "rma_reduce", combining);
      const auto data = block_of(root, static_cast<int>(number), 0, count);
      if (context.rank() == root) ints.window().flush(ints.bcast(data, 0));
      ints.window().wait(root, ++number);
      if (!std::equal(data.begin(), data.end(), ints.at(0))) context.fail("other data");
      PMPI_Barrier(ints.window().comm());
      // The sum is that of different numbers, so that none counts for another one.
      const auto mine = block_of(0, static_cast<int>(number), context.rank(), count);
      std::copy(mine.begin(), mine.end(), ints.at(0));
      PMPI_Barrier(ints.window().comm());
      if (context.rank() == root) {
        std::vector<int> sum(count);
        ints.window().flush(ints.reduce(sum, MPI_SUM, 0));
        if (sum != combined(p, static_cast<int>(number), count, MPI_SUM)) context.fail("sum");
      }
      ints.window().wait(root, ++number);
      PMPI_Barrier(ints.window().comm());
    }
  }
}

/// Every rank is the root of many concurrent operations of all kinds. Operations of one kind have a
/// region for each root; gathers and reductions read the data of earlier operations.
void all_kinds_at_once(Context& context) {
  if (!can_run(context)) return;
  const int p = context.size();
  constexpr int count = 40;
  constexpr int regions = 8;  // for each root, used in turn
#if defined(OPEN_MPI)
  constexpr bool yields = true;
#else
  constexpr bool yields = false;  // MPICH with more ranks than cores takes milliseconds for each
#endif
  const int rounds = (yields || p < 3 ? 700 : 30) * context.options().effort / p + 1;  // of 3 p
  const auto at = [&](int root, int i) {
    return static_cast<std::size_t>((root * regions + i % regions) * count);
  };
  Ints ints(context, at(p, 0));
  struct Round {
    std::vector<int> blocks;
    std::vector<int> back;
    std::vector<int> sum;
  };
  std::vector<Round> all(static_cast<std::size_t>(rounds));
  std::vector<TUTTI_Rma_request> requests;
  for (int i = 0; i < rounds; ++i) {
    Round& round = all[static_cast<std::size_t>(i)];
    round = {all_blocks(p, context.rank(), i, count), std::vector<int>(all_blocks(p, 0, 0, count)),
             std::vector<int>(count)};
    const std::size_t offset = at(context.rank(), i);
    requests.push_back(ints.scatter(round.blocks, offset));
    requests.push_back(ints.gather(round.back, offset));
    requests.push_back(ints.reduce(round.sum, MPI_SUM, offset));
  }
  for (const TUTTI_Rma_request request : requests) ints.window().flush(request);
  for (int i = 0; i < rounds; ++i) {
    const Round& round = all[static_cast<std::size_t>(i)];
    if (round.back != round.blocks) context.fail("gathered in round " + std::to_string(i));
    std::vector<int> sum(count, 0);
    for (std::size_t j = 0; j < round.blocks.size(); ++j) sum[j % count] += round.blocks[j];
    if (round.sum != sum) context.fail("summed in round " + std::to_string(i));
  }
  for (int root = 0; root < p; ++root) {
    ints.window().wait(root, 3LL * rounds);
    for (int i = std::max(rounds - regions, 0); i < rounds; ++i) {
      const auto mine = block_of(root, i, context.rank(), count);
      if (!std::equal(mine.begin(), mine.end(), ints.at(at(root, i)))) {
        context.fail("round " + std::to_string(i) + " of " + std::to_string(root));
      }
    }
  }
}

/// Data with gaps at the root; doubles; unsupported types and operations.
void types_of_the_root(Context& context) {
  if (!can_run(context)) return;
  const int p = context.size();
  constexpr int count = 50;
  Ints ints(context, 200);
  const auto mine = block_of(0, 1, context.rank(), count);
  std::copy(mine.begin(), mine.end(), ints.at(0));
  PMPI_Barrier(ints.window().comm());
  if (context.rank() == p - 1) {
    MPI_Datatype every_other = MPI_DATATYPE_NULL;
    PMPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_other);
    PMPI_Type_commit(&every_other);
    std::vector<int> back(static_cast<std::size_t>(2 * p * count), -1);
    TUTTI_Rma_request request = TUTTI_RMA_REQUEST_NULL;
    expect(context,
           TUTTI_Rma_gather(back.data(), count, every_other, 0, ints.window().window(), &request),
           "TUTTI_Rma_gather");
    ints.window().flush(request);
    PMPI_Type_free(&every_other);
    const auto all = all_blocks(p, 0, 1, count);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (back[2 * i] != all[i] || back[2 * i + 1] != -1) {
        context.fail("element " + std::to_string(i));
        break;
      }
    }
    std::vector<int> sum(count);
    const auto refused = [&](MPI_Datatype type, MPI_Op op) {
      return TUTTI_Rma_reduce(sum.data(), 1, type, op, 0, ints.window().window(), &request);
    };
    expect_class(context, refused(MPI_INT, MPI_REPLACE), MPI_ERR_OP, "no operation");
    expect_class(context, refused(MPI_DATATYPE_NULL, MPI_SUM), MPI_ERR_TYPE, "no type");
    expect_class(context,
                 TUTTI_Rma_gather(back.data(), 201, MPI_INT, 0, ints.window().window(), &request),
                 MPI_ERR_RMA_RANGE, "beyond");
  }
  ints.window().wait(p - 1, 1);
}

/// Without a release, MPI_Win_free completes active operations.
void freed_with_operations_under_way(Context& context) {
  if (!can_run(context)) return;
  constexpr std::size_t bytes = 3000;
  const auto p = static_cast<std::size_t>(context.size());
  const auto rank = static_cast<std::size_t>(context.rank());
  Registered window(context, Flavour::create, p * bytes);
  const TUTTI_Window number = window.window();
  const auto data = bytes_of(context.rank(), 1, bytes);
  TUTTI_Rma_request request = window.bcast(data, static_cast<MPI_Aint>(rank * bytes));
  window.free_by(PMPI_Win_free);
  for (std::size_t root = 0; window.has_memory_of_program() && root < p; ++root) {
    window.compare(root * bytes, bytes_of(static_cast<int>(root), 1, bytes), "after MPI_Win_free");
  }
  window.flush(request);
  expect_class(context, TUTTI_Rma_bcast(data.data(), 1, MPI_CHAR, 0, number, &request), MPI_ERR_WIN,
               "a freed window");
  expect_class(context, TUTTI_Rma_wait(number, 0, 1), MPI_ERR_WIN, "wait for a freed window");
}

/// MPI_Win_free of the MPI itself, for programs whose calls do not pass through Tutti.
int (*free_of_the_mpi())(MPI_Win*) {
  Dl_info library{};
  int (*found)(MPI_Win*) = nullptr;
  if (dladdr(reinterpret_cast<const void*>(&PMPI_Barrier), &library) == 0) return found;
  void* handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  void* address = handle == nullptr ? nullptr : dlsym(handle, "PMPI_Win_free");
  std::memcpy(&found, &address, sizeof found);
  return found;
}

/// Tutti notices only through the window's attribute, which Open MPI deletes after the window.
void freed_behind_the_back(Context& context) {
  if (!can_run(context)) return;
  constexpr std::size_t bytes = 3000;
  const auto free = free_of_the_mpi();
  if (free == nullptr) return context.fail("the MPI has no MPI_Win_free");
  Registered window(context, Flavour::allocate, 4096);
  const TUTTI_Window number = window.window();
  const auto data = bytes_of(0, 2, bytes);
  TUTTI_Rma_request request = TUTTI_RMA_REQUEST_NULL;
#if defined(OPEN_MPI)
  if (context.rank() == 0) window.flush(window.bcast(data, 0));
  PMPI_Barrier(window.comm());
#else
  if (context.rank() == 0) request = window.bcast(data, 0);
#endif
  window.free_by(free);
  if (context.rank() == 0) window.flush(request);
  expect_class(context, TUTTI_Rma_bcast(data.data(), 1, MPI_CHAR, 0, number, &request), MPI_ERR_WIN,
               "a freed window");
}

}  // namespace

void add_rma_nodes(Suite& suite) {
  suite.add_tutti_only("rma: along leaders of nodes", along_leaders);
}

void add_rma_kinds(Suite& suite) {
  suite.add_tutti_only("rma: scatter, gather and reduce", there_and_back);
  suite.add_tutti_only("rma: absolute addresses", absolute_addresses);
  suite.add_tutti_only("rma: all kinds at once", all_kinds_at_once);
  add_rma_nodes(suite);
  suite.add_tutti_only("rma: types of the root", types_of_the_root);
  suite.add_tutti_only("rma: freed with operations under way", freed_with_operations_under_way);
  suite.add_tutti_only("rma: freed behind the back", freed_behind_the_back);
}

}  // namespace tutti::test
