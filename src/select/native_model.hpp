/// The known algorithms of the program's MPI for gathers and scatters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// Libraries that select algorithms for collectives by the same rules.
enum class MpiFamily : std::uint8_t { unknown, open_mpi, mpich };

/// The family, from the text of MPI_Get_library_version. Libraries that derive from MPICH but tune
/// their collectives differently are unknown.
[[nodiscard]] MpiFamily mpi_family(std::string_view library_version);

/// The specifications that model the MPI's own gather or scatter among p ranks in its default
/// settings; several if the MPI's selection is unknown. `block` is the block size, or the mean size
/// of irregular blocks. Eager blocks are modelled with the background runner.
///
/// Open MPI: the fixed rules of coll/tuned in 4.1 and 5.0. MPICH: binomial for equal blocks, as in
/// all of its versions.
[[nodiscard]] std::vector<std::string> native_specifications(MpiFamily family,
                                                             Collective collective, int p,
                                                             Bytes block);

}  // namespace tutti
