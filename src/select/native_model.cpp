/// The selection rules of MPI libraries, and their limit of eager messages.
#include "select/native_model.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>

namespace tutti {

namespace {

/// The size up to which the supported MPI libraries send eagerly.
constexpr Bytes eager_limit = 65536;

enum class Own : std::uint8_t {
  sequence,      ///< one rank after the other
  all_at_once,   ///< all in flight
  synchronised,  ///< the root signals each rank, which sends its block in one piece
  binomial,
};

/// Applies below both limits; the first rule that applies decides.
struct Rule {
  int ranks;
  Bytes block;
  Own own;
};

constexpr int any = std::numeric_limits<int>::max();

constexpr Rule open_mpi_gather[] = {
    {4, 2, Own::synchronised},  {4, 4, Own::sequence},       {4, 32768, Own::binomial},
    {4, 65536, Own::sequence},  {4, 131072, Own::binomial},  {4, any, Own::synchronised},
    {8, 1024, Own::binomial},   {8, 8192, Own::sequence},    {8, 32768, Own::binomial},
    {8, 262144, Own::sequence}, {8, any, Own::synchronised}, {256, any, Own::binomial},
    {512, 2048, Own::binomial}, {512, 8192, Own::sequence},  {any, any, Own::binomial},
};

constexpr Rule open_mpi_scatter[] = {
    {4, 2, Own::all_at_once},     {4, 131072, Own::sequence},  {4, 262144, Own::all_at_once},
    {4, any, Own::sequence},      {8, 2048, Own::binomial},    {8, 4096, Own::sequence},
    {8, 8192, Own::binomial},     {8, 32768, Own::sequence},   {8, 1048576, Own::all_at_once},
    {8, any, Own::sequence},      {16, 16384, Own::binomial},  {16, 1048576, Own::all_at_once},
    {16, any, Own::sequence},     {32, 16384, Own::binomial},  {32, 32768, Own::sequence},
    {32, any, Own::all_at_once},  {64, 512, Own::binomial},    {64, 8192, Own::all_at_once},
    {64, 16384, Own::binomial},   {64, any, Own::all_at_once}, {any, 512, Own::binomial},
    {any, any, Own::all_at_once},
};

Own by_rule(std::span<const Rule> rules, int p, Bytes block) {
  return std::find_if(rules.begin(), rules.end() - 1,
                      [&](const Rule& rule) {
                        return p < rule.ranks && (rule.block == any || block < rule.block);
                      })
      ->own;
}

/// True if the largest message of `own` is sent eagerly.
bool is_eager(Own own, int p, Bytes block) {
  if (own == Own::synchronised) return false;
  if (own != Own::binomial) return block <= eager_limit;
  const auto half = static_cast<Bytes>(std::bit_ceil(static_cast<unsigned>(p)) / 2);
  return block * half <= eager_limit;
}

std::string specification_of(Own own, int p, Bytes block) {
  const char* runner = is_eager(own, p, block) ? ",runner=background" : "";
  switch (own) {
    case Own::sequence:
      // Eager blocks wait for the root in its memory, in any sequence.
      return is_eager(own, p, block) ? "linear:order=natural,runner=background"
                                     : "linear_sequence:order=natural";
    case Own::all_at_once:
      return std::string("linear:order=natural") + runner;
    case Own::synchronised:
      return "linear_sync:order=natural,segment=" + std::to_string(std::max(block, Bytes{1}));
    case Own::binomial:
      break;
  }
  return std::string("binomial:order=rotated") + runner;
}

}  // namespace

MpiFamily mpi_family(std::string_view library_version) {
  const auto says = [&](std::string_view text) {
    return library_version.find(text) != std::string_view::npos;
  };
  if (says("Open MPI v4.") || says("Open MPI v5.")) return MpiFamily::open_mpi;
  return says("MPICH Version:") ? MpiFamily::mpich : MpiFamily::unknown;
}

std::vector<std::string> native_specifications(MpiFamily family, Collective collective, int p,
                                               Bytes block) {
  // No rank but the root knows the sizes, so the MPI cannot use a tree.
  if (is_irregular(collective)) return {specification_of(Own::sequence, p, block)};
  switch (family) {
    case MpiFamily::open_mpi: {
      const std::span<const Rule> rules = is_gather(collective)
                                              ? std::span<const Rule>(open_mpi_gather)
                                              : std::span<const Rule>(open_mpi_scatter);
      return {specification_of(by_rule(rules, p, block), p, block)};
    }
    case MpiFamily::mpich:
      return {specification_of(Own::binomial, p, block)};
    case MpiFamily::unknown:
      break;
  }
  return {specification_of(Own::sequence, p, block), specification_of(Own::binomial, p, block)};
}

}  // namespace tutti
