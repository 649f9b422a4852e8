/// Writes the data of an exchange, makes the call, and compares all memory that it could access.
#include "exchange.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>

namespace tutti::test {
namespace {

template <class T>
T* garbage() {
  return reinterpret_cast<T*>(std::uintptr_t{16});
}
constexpr int garbage_count = -77;

/// The arguments of any of the 4 calls.
struct Arguments {
  const void* sendbuf = nullptr;
  int sendcount = garbage_count;
  MPI_Datatype sendtype = MPI_DATATYPE_NULL;
  void* recvbuf = nullptr;
  int recvcount = garbage_count;
  MPI_Datatype recvtype = MPI_DATATYPE_NULL;
  const int* counts = garbage<const int>();
  const int* displs = garbage<const int>();
};

int call_small(const Exchange& e, const Arguments& a, const Calls& calls) {
  switch (e.kind) {
    case Kind::gather:
      return calls.gather(a.sendbuf, a.sendcount, a.sendtype, a.recvbuf, a.recvcount, a.recvtype,
                          e.root, e.comm);
    case Kind::gatherv:
      return calls.gatherv(a.sendbuf, a.sendcount, a.sendtype, a.recvbuf, a.counts, a.displs,
                           a.recvtype, e.root, e.comm);
    case Kind::scatter:
      return calls.scatter(a.sendbuf, a.sendcount, a.sendtype, a.recvbuf, a.recvcount, a.recvtype,
                           e.root, e.comm);
    case Kind::scatterv:
      return calls.scatterv(a.sendbuf, a.counts, a.displs, a.sendtype, a.recvbuf, a.recvcount,
                            a.recvtype, e.root, e.comm);
  }
  return MPI_ERR_INTERN;
}

int call_large(const Exchange& e, const Arguments& a, const Calls& calls, bool at_root) {
  std::vector<MPI_Count> large_counts;
  std::vector<MPI_Aint> large_displs;
  const MPI_Count* counts = garbage<const MPI_Count>();
  const MPI_Aint* displs = garbage<const MPI_Aint>();
  if (at_root && is_irregular(e.kind)) {
    large_counts.assign(a.counts, a.counts + e.units.size());
    large_displs.assign(a.displs, a.displs + e.units.size());
    counts = large_counts.data();
    displs = large_displs.data();
  }
  switch (e.kind) {
    case Kind::gather:
      return calls.gather_c(a.sendbuf, a.sendcount, a.sendtype, a.recvbuf, a.recvcount, a.recvtype,
                            e.root, e.comm);
    case Kind::gatherv:
      return calls.gatherv_c(a.sendbuf, a.sendcount, a.sendtype, a.recvbuf, counts, displs,
                             a.recvtype, e.root, e.comm);
    case Kind::scatter:
      return calls.scatter_c(a.sendbuf, a.sendcount, a.sendtype, a.recvbuf, a.recvcount, a.recvtype,
                             e.root, e.comm);
    case Kind::scatterv:
      return calls.scatterv_c(a.sendbuf, counts, displs, a.sendtype, a.recvbuf, a.recvcount,
                              a.recvtype, e.root, e.comm);
  }
  return MPI_ERR_INTERN;
}

/// Replaces a buffer by a type of absolute addresses, which `made` keeps.
template <class Address>
void move_to_bottom(Address& buffer, MPI_Datatype& type, std::optional<FromBottom>& made) {
  if (type == MPI_DATATYPE_NULL || buffer == nullptr) return;
  made.emplace(type, buffer);
  buffer = MPI_BOTTOM;
  type = made->type();
}

/// The root's side of an exchange: counts, displacements and the memory they span.
struct RootSide {
  std::vector<int> counts;
  std::vector<int> displs;
  Image image;
};

RootSide root_side(const Exchange& e) {
  std::vector<int> counts;
  for (const int units : e.units) counts.push_back(units * e.at_root->per_unit());
  const BlockLayout block_layout = is_irregular(e.kind) ? e.block_layout : BlockLayout::contiguous;
  std::vector<int> displs = displacements(block_layout, e.salt, counts);
  Image image = image_for(*e.at_root, counts, displs);
  return {std::move(counts), std::move(displs), std::move(image)};
}

void set_leaf(const Exchange& e, int rank, Image& leaf, Arguments& a) {
  const int count = e.units[static_cast<std::size_t>(rank)] * e.leaf->per_unit();
  leaf.put(*e.leaf, 0, static_cast<std::size_t>(count), rank, e.salt, is_gather(e.kind));
  // Without data the address may be null.
  void* const address = count == 0 ? nullptr : leaf.address();
  if (is_gather(e.kind)) {
    a.sendbuf = address;
    a.sendcount = count;
    a.sendtype = e.leaf->type();
  } else {
    a.recvbuf = address;
    a.recvcount = count;
    a.recvtype = e.leaf->type();
  }
}

void set_root(const Exchange& e, RootSide& root, Arguments& a) {
  for (std::size_t i = 0; i < root.counts.size(); ++i) {
    const bool own = e.in_place && static_cast<int>(i) == e.root;
    root.image.put(*e.at_root, root.displs[i] * e.at_root->extent(),
                   static_cast<std::size_t>(root.counts[i]), static_cast<int>(i), e.salt,
                   !is_gather(e.kind) || own);
  }
  a.counts = root.counts.data();
  a.displs = root.displs.data();
  if (is_gather(e.kind)) {
    a.recvbuf = root.image.address();
    a.recvcount = root.counts[0];
    a.recvtype = e.at_root->type();
  } else {
    a.sendbuf = root.image.address();
    a.sendcount = root.counts[0];
    a.sendtype = e.at_root->type();
  }
}

}  // namespace

std::vector<int> displacements(BlockLayout block_layout, unsigned salt,
                               const std::vector<int>& counts) {
  std::mt19937 random(salt);
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (block_layout == BlockLayout::reversed) std::reverse(order.begin(), order.end());
  if (block_layout == BlockLayout::shuffled) std::shuffle(order.begin(), order.end(), random);
  const bool gaps = block_layout == BlockLayout::gaps || block_layout == BlockLayout::shuffled;
  std::vector<int> displs(counts.size());
  int next = block_layout == BlockLayout::shuffled ? -11 : 0;
  for (const std::size_t block : order) {
    if (gaps) next += static_cast<int>(random() % 4);
    displs[block] = next;
    next += counts[block];
  }
  return displs;
}

Image image_for(const Layout& layout, const std::vector<int>& counts,
                const std::vector<int>& displs) {
  std::ptrdiff_t lowest = 0;
  std::ptrdiff_t highest = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::ptrdiff_t first = displs[i] * layout.extent();
    lowest = std::min(lowest, first + layout.lowest());
    highest = std::max(highest, first + counts[i] * layout.extent() + layout.highest());
  }
  return {lowest, highest};
}

std::string compare(const char* buffer, const Image& image) {
  std::ptrdiff_t offset = 0;
  if (!image.differs(offset)) return "";
  return std::string("wrong byte at ") + std::to_string(offset) + " of " + buffer;
}

std::string to_text(const Exchange& e) {
  constexpr const char* names[] = {"contiguous", "gaps", "reversed", "shuffled"};
  std::string sizes;
  for (const int units : e.units) sizes += (sizes.empty() ? "" : ",") + std::to_string(units);
  return std::string(name_of(e.kind)) + (e.large ? "_c" : "") + " root " + std::to_string(e.root) +
         " units " + sizes + " " + e.leaf->name() + "/" + e.at_root->name() + " " +
         names[static_cast<std::size_t>(e.block_layout)] + (e.in_place ? " in place" : "") +
         (e.bottom ? " from MPI_BOTTOM" : "") + " salt " + std::to_string(e.salt);
}

std::string run(const Exchange& e, const Calls& calls) {
  int rank = 0;
  PMPI_Comm_rank(e.comm, &rank);
  const bool at_root = rank == e.root;
  const bool in_place = at_root && e.in_place;
  const std::ptrdiff_t count =
      std::ptrdiff_t{e.units[static_cast<std::size_t>(rank)]} * e.leaf->per_unit();
  Image leaf(e.leaf->lowest(), count * e.leaf->extent() + e.leaf->highest());
  RootSide root = at_root ? root_side(e) : RootSide{{}, {}, Image(0, 0)};
  Arguments a;
  if (is_gather(e.kind)) {
    a.recvbuf = garbage<void>();
    a.sendbuf = MPI_IN_PLACE;
  } else {
    a.sendbuf = garbage<const void>();
    a.recvbuf = MPI_IN_PLACE;
  }
  if (!in_place) set_leaf(e, rank, leaf, a);
  if (at_root) set_root(e, root, a);
  std::optional<FromBottom> sent;
  std::optional<FromBottom> received;
  if (e.bottom) {
    move_to_bottom(a.sendbuf, a.sendtype, sent);
    move_to_bottom(a.recvbuf, a.recvtype, received);
  }
  const int code = e.large && calls.gather_c != nullptr ? call_large(e, a, calls, at_root)
                                                        : call_small(e, a, calls);
  std::string wrong;
  if (code != MPI_SUCCESS) wrong = "returns " + error_text(code) + "; ";
  wrong += compare("the leaf's buffer", leaf);
  wrong += compare("the root's buffer", root.image);
  return wrong.empty() ? "" : wrong + " in " + to_text(e);
}

void native_fallback(Exchange& e) {
  constexpr int units_in_fragment = 500;
  const std::vector<Layout>& records = layouts_of_records();
  const bool is_record = &records.front() <= e.leaf && e.leaf <= &records.back();
  const int units = std::accumulate(e.units.begin(), e.units.end(), 0);
  if (is_record && units > units_in_fragment) {
    e.leaf = &layouts_of_ints()[0];
    e.at_root = &layouts_of_ints()[1];
  }
}

void check(Context& context, const Exchange& exchange) {
  Exchange e = exchange;
  if (context.options().native) native_fallback(e);
  context.step(to_text(e));
  context.expect_empty(run(e, calls_under_test(context.options().native)));
}

OwnComm::OwnComm(MPI_Comm of) {
  PMPI_Comm_dup(of, &comm_);
  PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
}

OwnComm::OwnComm(int colour, int key) {
  PMPI_Comm_split(MPI_COMM_WORLD, colour, key, &comm_);
  PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
}

int OwnComm::size() const {
  int size = 0;
  PMPI_Comm_size(comm_, &size);
  return size;
}

int OwnComm::rank() const {
  int rank = 0;
  PMPI_Comm_rank(comm_, &rank);
  return rank;
}

const std::vector<std::string_view>& size_shapes() {
  static const std::vector<std::string_view> shapes = {
      "same",   "none",       "some zero",   "one huge",   "wide",     "random",
      "spikes", "decreasing", "alternating", "two blocks", "root only"};
  return shapes;
}

std::vector<int> sizes(std::string_view shape, int p, std::mt19937& random) {
  constexpr int block = 40;
  constexpr int huge = 70000;
  std::vector<int> units(static_cast<std::size_t>(p), 0);
  const auto chosen = random() % units.size();
  const auto below = [&](int end) {
    return static_cast<int>(random() % static_cast<unsigned>(end));
  };
  for (int i = 0; i < p; ++i) {
    int& mine = units[static_cast<std::size_t>(i)];
    const bool is_chosen = static_cast<std::size_t>(i) == chosen;
    if (shape == "same") mine = block;
    if (shape == "some zero") mine = below(2) * (1 + below(block));
    if (shape == "one huge") mine = is_chosen ? huge : below(4);
    if (shape == "wide") mine = 1 << below(11);
    if (shape == "random") mine = 1 + below(2 * block);
    if (shape == "spikes") mine = below(5) == 0 ? 5 * block : 1;
    if (shape == "decreasing") mine = 2 * block * (p - i) / p + 1;
    if (shape == "alternating") mine = i % 2 == 0 ? block + block / 2 : block - block / 2;
    if (shape == "two blocks") mine = i == 0 || i == p - 1 ? block * p / 2 : 0;
    if (shape == "root only") mine = is_chosen ? block : 0;
  }
  return units;
}

Exchange draw(Kind kind, MPI_Comm comm, int root, std::vector<int> units, std::mt19937& random) {
  const std::vector<Layout>& family = random() % 4 == 0 ? layouts_of_records() : layouts_of_ints();
  Exchange e;
  e.kind = kind;
  e.comm = comm;
  e.root = root;
  e.units = std::move(units);
  e.leaf = &family[random() % family.size()];
  e.at_root = &family[random() % family.size()];
  e.block_layout = static_cast<BlockLayout>(random() % 4);
  e.in_place = random() % 3 == 0;
  e.large = random() % 3 == 0;
  e.bottom = random() % 4 == 0;
  e.salt = static_cast<unsigned>(random());
  return e;
}

}  // namespace tutti::test
