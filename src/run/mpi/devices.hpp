/// Memory of GPUs, which only an MPI that knows it may read and write.
#pragma once

namespace tutti {

/// Finds the driver of GPUs in the process, if it is loaded by now; loads nothing. Costs some
/// microseconds, once it is found none. May be called by several threads.
void look_for_devices();

/// Is this an address in the memory of a GPU, as far as the driver knows it that
/// look_for_devices() has found? Memory that CUDA or HIP manages, and what of the host's HIP has
/// registered, may be taken for such: the MPI copies that as well. Costs nothing without a driver.
[[nodiscard]] bool is_on_device(const void* address);

}  // namespace tutti
