/// What would be chosen for collectives of which there are schedules only.
#pragma once

#include "choose/choose.hpp"

namespace tutti {

/// No specification, since Tutti runs none of them, but for bcast and allgather the candidates with
/// their modelled times: native, taken as the best of what MPIs have, and where arrivals count (see
/// `weighs_arrivals`) the points that make use of them, charged twice the forecast's error where
/// they rely on it. The reason names the one that would gain a tenth, if there is one.
[[nodiscard]] Choice choose_unrun(const Situation& situation, const Machine& machine);

}  // namespace tutti
