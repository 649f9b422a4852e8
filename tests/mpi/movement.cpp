/// Writes the data of a movement, makes the call, and compares all memory that it could access.
#include "movement.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

namespace tutti::test {
namespace {

/// Elements in blocks of one buffer.
struct Side {
  std::vector<int> counts;
  std::vector<int> displs;  ///< in extents; of MPI_Alltoallw in bytes
  std::vector<MPI_Datatype> types;
  Image image = Image(0, 0);
  void* address = nullptr;  ///< as MPI gets it
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::unique_ptr<FromBottom> from_bottom = nullptr;

  [[nodiscard]] std::vector<MPI_Count> large_counts() const {
    return {counts.begin(), counts.end()};
  }
  [[nodiscard]] std::vector<MPI_Aint> large_displs() const {
    return {displs.begin(), displs.end()};
  }
};

Side side_of(const Movement& m, const Layout& layout, const std::vector<int>& units) {
  Side side;
  for (const int one : units) side.counts.push_back(one * layout.per_unit());
  // A single block has no displacement.
  const bool placed = is_irregular(m.motion) && (has_pairs(m.motion) || units.size() > 1);
  const BlockLayout block_layout = placed ? m.block_layout : BlockLayout::contiguous;
  side.displs = displacements(block_layout, m.salt, side.counts);
  side.image = image_for(layout, side.counts, side.displs);
  return side;
}

/// The identity of a block; for pairs, both ranks.
int origin(const Movement& m, int from, int to, int p) {
  return has_pairs(m.motion) ? from * p + to : from;
}

int units_of(const Movement& m, int from, int to, int p) {
  if (!is_irregular(m.motion)) return m.units[0];
  return m.units[static_cast<std::size_t>(has_pairs(m.motion) ? from * p + to : from)];
}

void put(const Movement& m, const Layout& layout, Side& side, std::size_t block, int from_to,
         bool present) {
  side.image.put(layout, side.displs[block] * layout.extent(),
                 static_cast<std::size_t>(side.counts[block]), from_to, m.salt, present);
}

void set_arguments(const Movement& m, const Layout& layout, Side& side) {
  side.address = side.image.address();
  side.type = layout.type();
  if (!m.bottom) return;
  side.from_bottom = std::make_unique<FromBottom>(side.type, side.address);
  side.type = side.from_bottom->type();
  side.address = MPI_BOTTOM;
}

void in_bytes(Side& side, const Layout& layout) {
  for (int& displacement : side.displs) {
    displacement = static_cast<int>(displacement * layout.extent());
  }
  side.types.assign(side.counts.size(), side.type);
}

/// Tutti's or the MPI's function, if the library has it.
#if MPI_VERSION >= 4
#define TUTTI_LARGE(name, ...) (native_ ? PMPI_##name##_c : TUTTI_##name##_c)(__VA_ARGS__)
#else
#define TUTTI_LARGE(name, ...) TUTTI_##name##_c(__VA_ARGS__)
#endif
#define TUTTI_SMALL(name, ...) (native_ ? PMPI_##name : TUTTI_##name)(__VA_ARGS__)

/// The call with the MPI's arguments.
class Caller {
 public:
  Caller(const Movement& m, Side& sent, Side& received, bool native)
      : m_(m), sent_(sent), received_(received), native_(native) {
    if (m.in_place) return;
    from_ = sent.address;
    count_ = sent.counts[0];
    type_ = sent.type;
  }

  /// A bcast has one type_.
  void set_type(MPI_Datatype type) { type_ = type; }

  int small() {
    void* to = received_.address;
    const MPI_Datatype other = received_.type;
    const Side& r = received_;
    switch (m_.motion) {
      case Motion::bcast:
        return TUTTI_SMALL(Bcast, to, r.counts[0], type_, m_.root, m_.comm);
      case Motion::allgather:
        return TUTTI_SMALL(Allgather, from_, count_, type_, to, r.counts[0], other, m_.comm);
      case Motion::allgatherv:
        return TUTTI_SMALL(Allgatherv, from_, count_, type_, to, r.counts.data(), r.displs.data(),
                           other, m_.comm);
      case Motion::alltoall:
        return TUTTI_SMALL(Alltoall, from_, count_, type_, to, r.counts[0], other, m_.comm);
      case Motion::alltoallv:
        return TUTTI_SMALL(Alltoallv, from_, counts(), displs(), type_, to, r.counts.data(),
                           r.displs.data(), other, m_.comm);
      case Motion::alltoallw:
        return TUTTI_SMALL(Alltoallw, from_, counts(), displs(), types(), to, r.counts.data(),
                           r.displs.data(), r.types.data(), m_.comm);
    }
    return MPI_ERR_INTERN;
  }

  int large() {
    void* to = received_.address;
    const MPI_Datatype other = received_.type;
    const auto rc = received_.large_counts();
    const auto rd = received_.large_displs();
    const auto sc = sent_.large_counts();
    const auto sd = sent_.large_displs();
    const MPI_Count* counts = m_.in_place ? nullptr : sc.data();
    const MPI_Aint* displs = m_.in_place ? nullptr : sd.data();
    switch (m_.motion) {
      case Motion::bcast:
        return TUTTI_LARGE(Bcast, to, rc[0], type_, m_.root, m_.comm);
      case Motion::allgather:
        return TUTTI_LARGE(Allgather, from_, count_, type_, to, rc[0], other, m_.comm);
      case Motion::allgatherv:
        return TUTTI_LARGE(Allgatherv, from_, count_, type_, to, rc.data(), rd.data(), other,
                           m_.comm);
      case Motion::alltoall:
        return TUTTI_LARGE(Alltoall, from_, count_, type_, to, rc[0], other, m_.comm);
      case Motion::alltoallv:
        return TUTTI_LARGE(Alltoallv, from_, counts, displs, type_, to, rc.data(), rd.data(), other,
                           m_.comm);
      case Motion::alltoallw:
        return TUTTI_LARGE(Alltoallw, from_, counts, displs, types(), to, rc.data(), rd.data(),
                           received_.types.data(), m_.comm);
    }
    return MPI_ERR_INTERN;
  }

 private:
  // Not significant in place.
  [[nodiscard]] const int* counts() const { return m_.in_place ? nullptr : sent_.counts.data(); }
  [[nodiscard]] const int* displs() const { return m_.in_place ? nullptr : sent_.displs.data(); }
  [[nodiscard]] const MPI_Datatype* types() const {
    return m_.in_place ? nullptr : sent_.types.data();
  }

  const Movement& m_;
  Side& sent_;
  Side& received_;
  bool native_;
  const void* from_ = MPI_IN_PLACE;
  int count_ = -77;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

std::string run_bcast(const Movement& m, int rank, bool native) {
  const Layout& layout = rank == m.root ? *m.sent : *m.received;
  Side vector = side_of(m, layout, {m.units[0]});
  put(m, layout, vector, 0, m.root, rank == m.root);
  set_arguments(m, layout, vector);
  Side none;
  Movement in_place = m;
  in_place.in_place = true;
  Caller caller(in_place, none, vector, native);
  caller.set_type(vector.type);
  const int code = m.large ? caller.large() : caller.small();
  return (code == MPI_SUCCESS ? "" : "returns " + error_text(code) + "; ") +
         compare("the buffer", vector.image);
}

std::string run_exchange(const Movement& m, int rank, int p, bool native) {
  std::vector<int> sent_units;
  std::vector<int> received_units;
  for (int other = 0; other < p; ++other) {
    if (has_pairs(m.motion) || other == 0) sent_units.push_back(units_of(m, rank, other, p));
    received_units.push_back(units_of(m, other, rank, p));
  }
  Side sent = side_of(m, *m.sent, sent_units);
  Side received = side_of(m, *m.received, received_units);
  for (int other = 0; other < p; ++other) {
    const auto block = static_cast<std::size_t>(other);
    if (!m.in_place && block < sent_units.size()) {
      put(m, *m.sent, sent, block, origin(m, rank, other, p), true);
    }
    // In place, the data from a rank replaces the data for it.
    if (m.in_place && (has_pairs(m.motion) || other == rank)) {
      put(m, *m.received, received, block, origin(m, rank, other, p), true);
    }
    put(m, *m.received, received, block, origin(m, other, rank, p), false);
  }
  set_arguments(m, *m.sent, sent);
  set_arguments(m, *m.received, received);
  if (m.motion == Motion::alltoallw) {
    in_bytes(sent, *m.sent);
    in_bytes(received, *m.received);
  }
  Caller caller(m, sent, received, native);
  const int code = m.large ? caller.large() : caller.small();
  return (code == MPI_SUCCESS ? "" : "returns " + error_text(code) + "; ") +
         compare("the send buffer", sent.image) + compare("the receive buffer", received.image);
}

}  // namespace

const char* name_of(Motion motion) {
  constexpr std::array names = {"bcast",    "allgather", "allgatherv",
                                "alltoall", "alltoallv", "alltoallw"};
  return names[static_cast<std::size_t>(motion)];
}

const char* setting_of(Motion motion) {
  return name_of(motion == Motion::alltoallw ? Motion::alltoallv : motion);
}

std::string to_text(const Movement& m) {
  constexpr const char* names[] = {"contiguous", "gaps", "reversed", "shuffled"};
  std::string sizes;
  for (const int units : m.units) sizes += (sizes.empty() ? "" : ",") + std::to_string(units);
  return std::string(name_of(m.motion)) + (m.large ? "_c" : "") + " root " +
         std::to_string(m.root) + " units " + sizes + " " + m.sent->name() + "/" +
         m.received->name() + " " + names[static_cast<std::size_t>(m.block_layout)] +
         (m.in_place ? " in place" : "") + (m.bottom ? " from MPI_BOTTOM" : "") + " salt " +
         std::to_string(m.salt);
}

std::string run(const Movement& m, bool native) {
  int rank = 0;
  int p = 1;
  PMPI_Comm_rank(m.comm, &rank);
  PMPI_Comm_size(m.comm, &p);
  const std::string wrong =
      m.motion == Motion::bcast ? run_bcast(m, rank, native) : run_exchange(m, rank, p, native);
  return wrong.empty() ? "" : wrong + " in " + to_text(m);
}

void native_fallback(Movement& m, int p) {
  if (m.motion == Motion::alltoallw && p == 1) m.block_layout = BlockLayout::contiguous;
  const std::vector<Layout>& records = layouts_of_records();
  if (m.sent < &records.front() || m.sent > &records.back()) return;
  m.sent = &layouts_of_ints()[0];
  m.received = &layouts_of_ints()[1];
}

Movement draw(Motion motion, MPI_Comm comm, int p, int scale, std::mt19937& random) {
  const auto below = [&](int end) {
    return static_cast<int>(random() % static_cast<unsigned>(end));
  };
  const std::vector<Layout>& family = below(4) == 0 ? layouts_of_records() : layouts_of_ints();
  const auto drawn = [&] {
    return &family[static_cast<std::size_t>(below(static_cast<int>(family.size())))];
  };
  Movement m;
  m.motion = motion;
  m.comm = comm;
  m.root = below(p);
  m.sent = drawn();
  m.received = drawn();
  m.block_layout = static_cast<BlockLayout>(below(4));
  m.in_place = motion != Motion::bcast && below(3) == 0;
  m.large = below(3) == 0;
  m.bottom = below(4) == 0;
  m.salt = static_cast<unsigned>(random());
  const int blocks = !is_irregular(motion) ? 1 : has_pairs(motion) ? p * p : p;
  for (int i = 0; i < blocks; ++i) {
    m.units.push_back(is_irregular(motion) ? below(3) * below(scale + 1) : scale);
  }
  // The data from a rank replaces the data for it.
  for (int from = 0; from < p && m.in_place && blocks > p; ++from) {
    for (int to = 0; to < from; ++to) {
      m.units[static_cast<std::size_t>(from * p + to)] =
          m.units[static_cast<std::size_t>(to * p + from)];
    }
  }
  return m;
}

}  // namespace tutti::test
