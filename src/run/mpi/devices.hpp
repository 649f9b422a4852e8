/// Recognizes memory of GPUs, which only an MPI that supports it may read and write.
#pragma once

namespace tutti {

/// Finds the driver of GPUs in the process, if it is loaded by now; loads nothing. Costs some
/// microseconds; once it has found a driver, none. For any thread.
void look_for_devices();

/// Is this an address in the memory of a GPU, according to the driver that look_for_devices()
/// found? May also be true for memory that CUDA or HIP manages, and for host memory that HIP has
/// registered: the MPI copies those as well. Costs nothing without a driver.
[[nodiscard]] bool is_on_device(const void* address);

}  // namespace tutti
