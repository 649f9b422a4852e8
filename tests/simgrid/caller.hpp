/// Calls of every collective with data that identify their origin, checked word by word.
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tutti/tutti.h"

namespace tutti::test {

using Word = std::uint32_t;
inline constexpr Word guard = 0xa5a5a5a5U;

inline int rank = 0;  ///< of this process in the world
inline int p = 1;     ///< ranks of the world

/// Element `index` of the block that travels from rank `from` to rank `to`; to is 0 for blocks
/// that are the same for all.
inline Word payload(int call, int from, int to, int index) {
  Word word = static_cast<Word>(call + 1) * 0x9e3779b9U ^
              static_cast<Word>(from + 1) * 0x85ebca6bU ^ static_cast<Word>(to + 1) * 0xc2b2ae35U ^
              static_cast<Word>(index) * 0x27d4eb2fU;
  word ^= word >> 15;
  return word * 0x2c1b3c6dU ^ word >> 13;
}

/// The layout of the blocks of a call.
class Blocks {
 public:
  /// Blocks of these lengths; if `gaps`, with a guard word after each.
  Blocks(const std::vector<int>& lengths, bool gaps) : counts(lengths) {
    int next = 0;
    for (const int length : lengths) {
      displs.push_back(next);
      next += length + (gaps ? 1 : 0);
    }
    words.assign(static_cast<std::size_t>(next) + 1, guard);
  }
  void fill(int block, const std::function<Word(int)>& value) {
    for (int i = 0; i < counts[static_cast<std::size_t>(block)]; ++i) {
      words[static_cast<std::size_t>(displs[static_cast<std::size_t>(block)] + i)] = value(i);
    }
  }
  std::vector<int> counts;
  std::vector<int> displs;
  std::vector<Word> words;
};

/// The length of a rank's block: equal ones, irregular ones, and mostly empty ones, in turn.
inline int length_of(int call, int of, bool irregular) {
  if (!irregular) return std::array{5, 1, 40}[static_cast<std::size_t>(call % 3)];
  const Word drawn = payload(call, of, 77, 0);
  if (call % 3 == 1) return of % 7 == 3 ? 300 : 0;
  return static_cast<int>(drawn % (call % 3 == 0 ? 9U : 60U));
}

inline std::vector<int> lengths(int call, bool irregular) {
  std::vector<int> all;
  for (int i = 0; i < p; ++i) all.push_back(length_of(call, i, irregular));
  return all;
}

/// The lengths of the blocks between pairs, from or to this rank.
inline std::vector<int> pair_lengths(int call, bool sent) {
  std::vector<int> all;
  for (int i = 0; i < p; ++i) {
    const Word drawn = payload(call, sent ? rank : i, sent ? i : rank, 1);
    all.push_back(call % 3 == 1 ? (drawn % 5 == 0 ? 20 : 0) : static_cast<int>(drawn % 6));
  }
  return all;
}

/// Composition of maps x -> a x + b: associative, but not commutative.
inline void compose(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* first = static_cast<const Word*>(in);
  auto* second = static_cast<Word*>(inout);
  for (int i = 0; i < 2 * *count; i += 2) {
    const Word a = first[i] * second[i];
    second[i + 1] = second[i] * first[i + 1] + second[i + 1];
    second[i] = a;
  }
}

struct Reduced {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  bool sums = true;  ///< else compositions of pairs
};

/// The elements of the reduction over the first `ranks`; for pairs, their words one after the
/// other.
inline std::vector<Word> reduced_words(int call, int count, const Reduced& reduced, int ranks) {
  std::vector<Word> all(static_cast<std::size_t>(count) * (reduced.sums ? 1U : 2U));
  for (int i = 0; i < ranks; ++i) {
    std::vector<Word> mine;
    for (int k = 0; k < static_cast<int>(all.size()); ++k) mine.push_back(payload(call, i, 0, k));
    if (i == 0) {
      all = mine;
    } else if (reduced.sums) {
      for (std::size_t k = 0; k < all.size(); ++k) all[k] += mine[k];
    } else {
      compose(all.data(), mine.data(), &count, nullptr);
      all = mine;
    }
  }
  return all;
}

/// Makes one call; the text is what is wrong at this rank.
class Caller {
 public:
  explicit Caller(const std::string& collective) : collective_(collective) {
    sums_ = {MPI_UINT32_T, MPI_SUM, true};
    MPI_Type_contiguous(2, MPI_UINT32_T, &pairs_.type);
    MPI_Type_commit(&pairs_.type);
    MPI_Op_create(compose, 0, &pairs_.op);
    pairs_.sums = false;
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;
  ~Caller() {
    MPI_Type_free(&pairs_.type);
    MPI_Op_free(&pairs_.op);
  }

  std::string operator()(int call) {
    root_ = std::array{p / 2, 0, p - 1}[static_cast<std::size_t>(call % 3)];
    const bool is_v = collective_.back() == 'v';
    if (collective_ == "barrier") return barrier();
    if (collective_ == "bcast") return bcast(call);
    if (collective_.starts_with("gather")) return gather(call, is_v);
    if (collective_.starts_with("scatter")) return scatter(call, is_v);
    if (collective_.starts_with("allgather")) return allgather(call, is_v);
    if (collective_.starts_with("alltoall")) return alltoall(call, is_v);
    if (collective_.ends_with("scan")) return scan(call);
    return reduction(call);
  }

 private:
  static std::string check(int code, const std::vector<Word>& found,
                           const std::vector<Word>& expected) {
    if (code != MPI_SUCCESS) return "returned error " + std::to_string(code);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (found[i] != expected[i]) return "wrong word " + std::to_string(i);
    }
    return "";
  }

  /// No rank leaves before the last one, which is late, has entered, by the one simulated clock.
  [[nodiscard]] std::string barrier() const {
    if (rank == root_) usleep(1000);
    const double entered = MPI_Wtime();
    const int code = TUTTI_Barrier(MPI_COMM_WORLD);
    const double left = MPI_Wtime();
    double last = 0;
    MPI_Allreduce(&entered, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (left < last) return "left before all had entered";
    return check(code, {}, {});
  }

  std::string bcast(int call) {
    const int count = std::array{5, 1, 4000}[static_cast<std::size_t>(call % 3)];
    Blocks expected({count}, false);
    expected.fill(0, [&](int i) { return payload(call, root_, 0, i); });
    Blocks data({count}, false);
    if (rank == root_) data = expected;
    const int code = TUTTI_Bcast(data.words.data(), count, MPI_UINT32_T, root_, MPI_COMM_WORLD);
    return check(code, data.words, expected.words);
  }

  std::string gather(int call, bool is_v) {
    const int mine = length_of(call, rank, is_v);
    Blocks own({mine}, false);
    own.fill(0, [&](int i) { return payload(call, rank, 0, i); });
    Blocks all(rank == root_ ? lengths(call, is_v) : std::vector<int>(), is_v);
    Blocks expected = all;
    for (int from = 0; rank == root_ && from < p; ++from) {
      expected.fill(from, [&](int i) { return payload(call, from, 0, i); });
    }
    const int code = is_v ? TUTTI_Gatherv(own.words.data(), mine, MPI_UINT32_T, all.words.data(),
                                          all.counts.data(), all.displs.data(), MPI_UINT32_T, root_,
                                          MPI_COMM_WORLD)
                          : TUTTI_Gather(own.words.data(), mine, MPI_UINT32_T, all.words.data(),
                                         mine, MPI_UINT32_T, root_, MPI_COMM_WORLD);
    return check(code, all.words, expected.words);
  }

  std::string scatter(int call, bool is_v) {
    const int mine = length_of(call, rank, is_v);
    Blocks own({mine}, false);
    Blocks expected = own;
    expected.fill(0, [&](int i) { return payload(call, rank, 0, i); });
    Blocks all(rank == root_ ? lengths(call, is_v) : std::vector<int>(), is_v);
    for (int to = 0; rank == root_ && to < p; ++to) {
      all.fill(to, [&](int i) { return payload(call, to, 0, i); });
    }
    const int code =
        is_v ? TUTTI_Scatterv(all.words.data(), all.counts.data(), all.displs.data(), MPI_UINT32_T,
                              own.words.data(), mine, MPI_UINT32_T, root_, MPI_COMM_WORLD)
             : TUTTI_Scatter(all.words.data(), mine, MPI_UINT32_T, own.words.data(), mine,
                             MPI_UINT32_T, root_, MPI_COMM_WORLD);
    return check(code, own.words, expected.words);
  }

  std::string allgather(int call, bool is_v) {
    const int mine = length_of(call, rank, is_v);
    Blocks own({mine}, false);
    own.fill(0, [&](int i) { return payload(call, rank, 0, i); });
    Blocks all(lengths(call, is_v), is_v);
    Blocks expected = all;
    for (int from = 0; from < p; ++from) {
      expected.fill(from, [&](int i) { return payload(call, from, 0, i); });
    }
    const int code =
        is_v ? TUTTI_Allgatherv(own.words.data(), mine, MPI_UINT32_T, all.words.data(),
                                all.counts.data(), all.displs.data(), MPI_UINT32_T, MPI_COMM_WORLD)
             : TUTTI_Allgather(own.words.data(), mine, MPI_UINT32_T, all.words.data(), mine,
                               MPI_UINT32_T, MPI_COMM_WORLD);
    return check(code, all.words, expected.words);
  }

  std::string alltoall(int call, bool is_v) {
    const int each = 1 + 4 * (call % 3);
    const std::vector<int> equal(static_cast<std::size_t>(p), each);
    Blocks sent(is_v ? pair_lengths(call, true) : equal, is_v);
    Blocks received(is_v ? pair_lengths(call, false) : equal, is_v);
    Blocks expected = received;
    for (int other = 0; other < p; ++other) {
      sent.fill(other, [&](int i) { return payload(call, rank, other, i); });
      expected.fill(other, [&](int i) { return payload(call, other, rank, i); });
    }
    const int code =
        is_v ? TUTTI_Alltoallv(sent.words.data(), sent.counts.data(), sent.displs.data(),
                               MPI_UINT32_T, received.words.data(), received.counts.data(),
                               received.displs.data(), MPI_UINT32_T, MPI_COMM_WORLD)
             : TUTTI_Alltoall(sent.words.data(), each, MPI_UINT32_T, received.words.data(), each,
                              MPI_UINT32_T, MPI_COMM_WORLD);
    return check(code, received.words, expected.words);
  }

  /// MPI leaves rank 0's result of an exscan undefined. SimGrid's own scans are wrong for
  /// operations that do not commute.
  std::string scan(int call) {
    const int count = std::array{3, 700, 9}[static_cast<std::size_t>(call % 3)];
    Blocks sent({count}, false);
    sent.fill(0, [&](int i) { return payload(call, rank, 0, i); });
    Blocks received(sent.counts, false);
    Blocks expected = received;
    const bool is_exclusive = collective_ == "exscan";
    const std::vector<Word> result =
        reduced_words(call, count, sums_, rank + (is_exclusive ? 0 : 1));
    expected.fill(0, [&](int i) { return result[static_cast<std::size_t>(i)]; });
    const auto scan = is_exclusive ? TUTTI_Exscan : TUTTI_Scan;
    const int code =
        scan(sent.words.data(), received.words.data(), count, sums_.type, sums_.op, MPI_COMM_WORLD);
    if (is_exclusive && rank == 0) expected.words.clear();
    return check(code, received.words, expected.words);
  }

  std::string reduction(int call) {
    const Reduced& reduced = call % 3 == 2 ? pairs_ : sums_;
    const int width = reduced.sums ? 1 : 2;
    const bool is_block = collective_ == "reduce_scatter_block";
    const bool scatters = is_block || collective_ == "reduce_scatter";
    std::vector<int> counts;
    for (int i = 0; i < p; ++i) counts.push_back(is_block ? 2 : (i + call) % 3);
    int count = std::array{3, 700, 9}[static_cast<std::size_t>(call % 3)];
    int before = 0;
    int mine = count;
    if (scatters) {
      count = 0;
      for (int i = 0; i < p; ++i) {
        if (i == rank) before = count;
        count += counts[static_cast<std::size_t>(i)];
      }
      mine = counts[static_cast<std::size_t>(rank)];
    }
    Blocks sent({count * width}, false);
    sent.fill(0, [&](int i) { return payload(call, rank, 0, i); });
    Blocks received({mine * width}, false);
    Blocks expected = received;
    const std::vector<Word>& result = result_of(call, count, reduced);
    if (collective_ != "reduce" || rank == root_) {
      expected.fill(0, [&](int i) { return result[static_cast<std::size_t>(before * width + i)]; });
    }
    return check(reduce(sent, received, count, counts, reduced), received.words, expected.words);
  }

  int reduce(Blocks& sent, Blocks& received, int count, const std::vector<int>& counts,
             const Reduced& by) {
    Word* const to = received.words.data();
    const Word* const from = sent.words.data();
    if (collective_ == "reduce") {
      return TUTTI_Reduce(from, to, count, by.type, by.op, root_, MPI_COMM_WORLD);
    }
    if (collective_ == "allreduce") {
      return TUTTI_Allreduce(from, to, count, by.type, by.op, MPI_COMM_WORLD);
    }
    if (collective_ == "reduce_scatter") {
      return TUTTI_Reduce_scatter(from, to, counts.data(), by.type, by.op, MPI_COMM_WORLD);
    }
    return TUTTI_Reduce_scatter_block(from, to, counts[0], by.type, by.op, MPI_COMM_WORLD);
  }

  const std::vector<Word>& result_of(int call, int count, const Reduced& reduced) {
    std::vector<Word>& known = results_[call];
    if (known.empty()) known = reduced_words(call, count, reduced, p);
    return known;
  }

  std::string collective_;
  int root_ = 0;
  Reduced sums_;
  Reduced pairs_;
  std::map<int, std::vector<Word>> results_;
};

}  // namespace tutti::test
