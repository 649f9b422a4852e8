/// Which algorithms the program's MPI is known to take for its own gathers and scatters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// As far as libraries are alike in what their collectives do.
enum class MpiFamily : std::uint8_t { unknown, open_mpi, mpich };

/// From what an MPI says of itself (MPI_Get_library_version). What derives from MPICH and tunes its
/// collectives otherwise is unknown.
[[nodiscard]] MpiFamily mpi_family(std::string_view library_version);

/// What stands for the MPI's own gather or scatter (also of irregular blocks, of `block` bytes in
/// the mean) among p ranks in its default settings; where several do, nobody knows which one it
/// is. Blocks that the MPI sends before their receiver has come run in the background.
///
/// Open MPI: the fixed rules of coll/tuned in 4.1 and 5.0. MPICH: binomial for equal blocks, as in
/// all of its versions.
[[nodiscard]] std::vector<std::string> native_specifications(MpiFamily family,
                                                             Collective collective, int p,
                                                             Bytes block);

}  // namespace tutti
