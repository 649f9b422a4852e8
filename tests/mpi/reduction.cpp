/// Values that identify their ranks, memory with guards, and the 4 calls.
#include "reduction.hpp"

#include <tutti/tutti.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>

#include "algorithms/algorithms.hpp"
#include "layouts.hpp"

namespace tutti::test {
namespace {

/// Three ints: the range of reduced ranks, from the lowest to one above the highest, and the index.
/// A reduction out of rank order, or of different indices, makes the value permanently invalid.
struct Sequence {
  std::int32_t lowest, end, index;
};
constexpr std::int32_t spoilt = -1;

/// The offsets of the 3 ints of a type, which the operation finds by the type's extent.
struct Shape {
  const char* name;
  std::ptrdiff_t places[3];
  std::ptrdiff_t lower, extent;
};
constexpr Shape shapes[] = {
    {"three ints", {0, 4, 8}, 0, 12},
    {"ints with gaps", {4, 8, 16}, 0, 28},
    {"ints below their address", {-8, 0, 12}, -8, 36},
    {"ints reaching into the next element", {0, 4, 44}, 0, 12},
    {"ints downwards", {0, 8, 4}, 0, -20},
};

Sequence load(const Shape& shape, const std::byte* address) {
  std::int32_t parts[3];
  for (int i = 0; i < 3; ++i) std::memcpy(&parts[i], address + shape.places[i], 4);
  return {parts[0], parts[1], parts[2]};
}
void store(const Shape& shape, std::byte* address, const Sequence& value) {
  const std::int32_t parts[3] = {value.lowest, value.end, value.index};
  for (int i = 0; i < 3; ++i) std::memcpy(address + shape.places[i], &parts[i], 4);
}

Sequence joined(const Sequence& left, const Sequence& right) {
  const bool fits = left.end == right.lowest && left.index == right.index && left.index != spoilt;
  return fits ? Sequence{left.lowest, right.end, left.index} : Sequence{spoilt, spoilt, spoilt};
}
/// Counts and sums: commutes.
Sequence added(const Sequence& left, const Sequence& right) {
  const std::int32_t index = left.index == right.index ? left.index : spoilt;
  return {left.lowest + right.lowest, left.end + right.end, index};
}

/// The distance from the address of an element with absolute addresses to its actual address.
MPI_Aint distance_to(const Shape& shape, MPI_Datatype type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  PMPI_Type_get_true_extent(type, &lower, &extent);
  return lower - *std::min_element(shape.places, shape.places + 3);
}

template <std::size_t which, Sequence (*combine)(const Sequence&, const Sequence&)>
void operate(void* in, void* inout, int* length, MPI_Datatype* type) {
  static constexpr const Shape& shape = shapes[which];
  const MPI_Aint distance = distance_to(shape, *type);
  auto* left = static_cast<const std::byte*>(in) + distance;
  auto* right = static_cast<std::byte*>(inout) + distance;
  for (int i = 0; i < *length; ++i, left += shape.extent, right += shape.extent) {
    store(shape, right, combine(load(shape, left), load(shape, right)));
  }
}

template <std::size_t which>
Values values_of(bool commutes) {
  static constexpr const Shape& shape = shapes[which];
  MPI_Datatype ints = MPI_DATATYPE_NULL;
  const int lengths[3] = {1, 1, 1};
  const MPI_Aint places[3] = {shape.places[0], shape.places[1], shape.places[2]};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  PMPI_Type_create_hindexed(3, lengths, places, MPI_INT, &ints);
  PMPI_Type_create_resized(ints, shape.lower, shape.extent, &type);
  PMPI_Type_free(&ints);
  PMPI_Type_commit(&type);
  MPI_Op op = MPI_OP_NULL;
  PMPI_Op_create(commutes ? operate<which, added> : operate<which, joined>, commutes ? 1 : 0, &op);
  const auto [low, high] = std::minmax({shape.places[0], shape.places[1], shape.places[2]});
  Values values{};
  values.name = shape.name;
  values.type = type;
  values.op = op;
  values.commutes = commutes;
  values.is_odd = low != 0 || high + 4 != shape.extent;
  values.stride = shape.extent;
  values.lowest = low;
  values.highest = high + 4;
  values.fields.assign(shape.places, shape.places + 3);
  values.width = 4;
  if (commutes) {
    values.contribute = [](std::byte* at, int rank, int index) {
      store(shape, at, {1, 1 << (2 * rank), index});
    };
    values.result = [](std::byte* at, int p, int index) {
      store(shape, at, {p, ((1 << (2 * p)) - 1) / 3, index});
    };
  } else {
    values.contribute = [](std::byte* at, int rank, int index) {
      store(shape, at, {rank, rank + 1, index});
    };
    values.result = [](std::byte* at, int p, int index) { store(shape, at, {0, p, index}); };
  }
  return values;
}

template <class Number>
void put(std::byte* at, Number number) {
  std::memcpy(at, &number, sizeof number);
}

struct Located {
  double value;
  int place;
};

std::vector<Values> make_all() {
  std::vector<Values> all;
  all.push_back(
      {"ints",
       MPI_INT,
       MPI_SUM,
       true,
       false,
       4,
       0,
       4,
       {0},
       4,
       [](std::byte* at, int rank, int index) { put(at, (1 << (2 * rank)) + index); },
       [](std::byte* at, int p, int index) { put(at, ((1 << (2 * p)) - 1) / 3 + p * index); }});
  all.push_back(
      {"bytes",
       MPI_BYTE,
       MPI_BOR,
       true,
       false,
       1,
       0,
       1,
       {0},
       1,
       [](std::byte* at, int rank, int) { put(at, std::uint8_t(1U << (rank % 8))); },
       [](std::byte* at, int p, int) { put(at, std::uint8_t(p >= 8 ? 255U : (1U << p) - 1)); }});
  all.push_back({"doubles with places",
                 MPI_DOUBLE_INT,
                 MPI_MAXLOC,
                 true,
                 false,
                 sizeof(Located),
                 0,
                 static_cast<std::ptrdiff_t>(offsetof(Located, place) + 4),
                 {0, 4, 8},
                 4,
                 [](std::byte* at, int rank, int index) {
                   put(at, rank == 1 ? index + 5.0 : index - rank);
                   put(at + offsetof(Located, place), rank);
                 },
                 [](std::byte* at, int p, int index) {
                   put(at, p > 1 ? index + 5.0 : index);
                   put(at + offsetof(Located, place), p > 1 ? 1 : 0);
                 }});
  for (const bool commutes : {false, true}) {
    all.push_back(values_of<0>(commutes));
    all.push_back(values_of<1>(commutes));
    all.push_back(values_of<2>(commutes));
    all.push_back(values_of<3>(commutes));
    all.push_back(values_of<4>(commutes));
  }
  return all;
}

std::vector<Values>& storage() {
  static std::vector<Values> all = make_all();
  return all;
}

/// Memory of `count` elements with guards around them and in their gaps.
class Memory {
 public:
  Memory(const Values& values, int count) : values_(&values) {
    const std::ptrdiff_t last = (count - 1) * values.stride;
    below_ = guard - std::min<std::ptrdiff_t>(0, last) - std::min<std::ptrdiff_t>(0, values.lowest);
    const std::ptrdiff_t above = std::max<std::ptrdiff_t>(0, last) + values.highest + guard;
    bytes_.assign(static_cast<std::size_t>(below_ + above), std::byte{0x5a});
  }
  /// The address to pass to MPI.
  [[nodiscard]] std::byte* address() { return bytes_.data() + below_; }
  [[nodiscard]] std::byte* element(int at) { return address() + at * values_->stride; }
  friend bool operator==(const Memory& a, const Memory& b) { return a.bytes_ == b.bytes_; }
  /// The first byte that differs, from the address of the first element.
  [[nodiscard]] std::ptrdiff_t difference(const Memory& other) const {
    return std::mismatch(bytes_.begin(), bytes_.end(), other.bytes_.begin()).first -
           bytes_.begin() - below_;
  }

 private:
  static constexpr std::ptrdiff_t guard = 64;
  const Values* values_;
  std::ptrdiff_t below_;
  std::vector<std::byte> bytes_;
};

struct Arguments {
  const void* send;
  void* receive;
  MPI_Datatype type;
};

int call_large(const Reduction& r, const Arguments& a) {
  const MPI_Count count = r.counts[0];
  if (r.collective == "reduce") {
    return TUTTI_Reduce_c(a.send, a.receive, count, a.type, r.values->op, r.root, r.comm);
  }
  if (r.collective == "allreduce") {
    return TUTTI_Allreduce_c(a.send, a.receive, count, a.type, r.values->op, r.comm);
  }
  if (r.collective == "scan") {
    return TUTTI_Scan_c(a.send, a.receive, count, a.type, r.values->op, r.comm);
  }
  if (r.collective == "exscan") {
    return TUTTI_Exscan_c(a.send, a.receive, count, a.type, r.values->op, r.comm);
  }
  if (r.collective == "reduce_scatter_block") {
    return TUTTI_Reduce_scatter_block_c(a.send, a.receive, count, a.type, r.values->op, r.comm);
  }
  const std::vector<MPI_Count> counts(r.counts.begin(), r.counts.end());
  return TUTTI_Reduce_scatter_c(a.send, a.receive, counts.data(), a.type, r.values->op, r.comm);
}

int call(const Reduction& r, const Arguments& a) {
  const Values& v = *r.values;
  if (r.large && !r.native) return call_large(r, a);
  if (r.collective == "reduce") {
    return (r.native ? PMPI_Reduce : TUTTI_Reduce)(a.send, a.receive, r.counts[0], a.type, v.op,
                                                   r.root, r.comm);
  }
  if (r.collective == "allreduce") {
    return (r.native ? PMPI_Allreduce : TUTTI_Allreduce)(a.send, a.receive, r.counts[0], a.type,
                                                         v.op, r.comm);
  }
  if (is_scan(r.collective)) {
    const auto scan = r.collective == "scan" ? (r.native ? PMPI_Scan : TUTTI_Scan)
                                             : (r.native ? PMPI_Exscan : TUTTI_Exscan);
    return scan(a.send, a.receive, r.counts[0], a.type, v.op, r.comm);
  }
  if (r.collective == "reduce_scatter_block") {
    return (r.native ? PMPI_Reduce_scatter_block : TUTTI_Reduce_scatter_block)(
        a.send, a.receive, r.counts[0], a.type, v.op, r.comm);
  }
  return (r.native ? PMPI_Reduce_scatter : TUTTI_Reduce_scatter)(a.send, a.receive, r.counts.data(),
                                                                 a.type, v.op, r.comm);
}

/// The elements of the vector that a rank receives, combined over ranks 0 to contributors - 1.
struct Wanted {
  int first;
  int count;
  int contributors;
};

Wanted wanted(const Reduction& r, int rank, int p) {
  if (r.collective == "reduce") return {0, rank == r.root ? r.counts[0] : 0, p};
  if (r.collective == "allreduce") return {0, r.counts[0], p};
  if (r.collective == "scan") return {0, r.counts[0], rank + 1};
  if (r.collective == "exscan") return {0, rank > 0 ? r.counts[0] : 0, rank};
  if (r.collective == "reduce_scatter_block") return {rank * r.counts[0], r.counts[0], p};
  return {std::accumulate(r.counts.begin(), r.counts.begin() + rank, 0),
          r.counts[static_cast<std::size_t>(rank)], p};
}

std::string compare(const char* what, const Memory& found, const Memory& expected) {
  if (found == expected) return "";
  return std::string(what) + " is wrong at byte " + std::to_string(found.difference(expected));
}

}  // namespace

const std::vector<Values>& Values::all() { return storage(); }

void Values::free_all() {
  for (Values& values : storage()) {
    if (!values.has_own_op()) continue;
    PMPI_Type_free(&values.type);
    PMPI_Op_free(&values.op);
  }
}

std::string to_text(const Reduction& r) {
  std::string text = r.collective + " of " + r.values->name +
                     (r.values->commutes ? "" : " in sequence") + " root " +
                     std::to_string(r.root) + " counts";
  for (std::size_t i = 0; i < std::min<std::size_t>(r.counts.size(), 9); ++i) {
    text += " " + std::to_string(r.counts[i]);
  }
  return text + (r.in_place ? " in place" : "") + (is_absolute(r) ? " from MPI_BOTTOM" : "") +
         (r.large ? " large" : "");
}

bool takes_any(const std::string& collective, const std::string& specification) {
  const std::string name = specification.substr(0, specification.find(':'));
  return std::ranges::any_of(all_algorithms(), [&](const Algorithm& one) {
    return name_of(one.collective) == collective && one.name == name && !one.commutative;
  });
}

std::vector<int> counts_of(const std::string& collective, int count, int p) {
  if (collective != "reduce_scatter") return {count};
  std::vector<int> counts;
  for (int rank = 0; rank < p; ++rank) counts.push_back(count == 0 ? 0 : (count + rank * 3) % 7);
  if (count > 100) counts[static_cast<std::size_t>(p / 2)] = count;
  return counts;
}

std::string run(const Reduction& r) {
  int rank = 0;
  int p = 0;
  PMPI_Comm_rank(r.comm, &rank);
  PMPI_Comm_size(r.comm, &p);
  const Values& values = *r.values;
  const bool by_rank = r.collective == "reduce_scatter";
  int vector = by_rank ? std::accumulate(r.counts.begin(), r.counts.end(), 0) : r.counts[0];
  if (r.collective == "reduce_scatter_block") vector *= p;
  const bool in_place = r.in_place && (r.collective != "reduce" || rank == r.root);
  Memory send(values, vector);
  Memory receive(values, vector);
  for (int i = 0; i < vector; ++i) {
    values.contribute((in_place ? receive : send).element(i), rank, i);
  }
  const Memory sent = send;
  Memory expected = receive;
  const Wanted mine = wanted(r, rank, p);
  for (int i = 0; i < mine.count; ++i) {
    values.result(expected.element(i), mine.contributors, mine.first + i);
  }
  // MPICH refuses a null pointer that it does not use.
  const bool is_missing = (r.collective == "reduce" && rank != r.root) ||
                          (r.collective == "exscan" && rank == 0 && !in_place && r.keeps_rest);
  Arguments arguments = {in_place ? MPI_IN_PLACE : send.address(),
                         is_missing ? nullptr : receive.address(), values.type};
  std::optional<FromBottom> type;
  if (is_absolute(r)) {
    type.emplace(values.type, in_place ? receive.address() : send.address());
    arguments = {in_place ? MPI_IN_PLACE : MPI_BOTTOM, MPI_BOTTOM, type->type()};
  }
  const int code = call(r, arguments);
  if (code != MPI_SUCCESS) return "returns error " + std::to_string(code);
  for (int i = mine.count; in_place && !r.keeps_rest && i < vector; ++i) {
    for (const std::ptrdiff_t field : values.fields) {
      std::copy_n(receive.element(i) + field, values.width, expected.element(i) + field);
    }
  }
  const std::string wrong = compare("the send buffer", send, sent);
  return wrong.empty() ? compare("the result", receive, expected) : wrong;
}

}  // namespace tutti::test
