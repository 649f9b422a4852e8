/// The network of this host.
#pragma once

#include <string>

namespace tutti {

/// A name that equal networks share, from what the kernel says in the folder `kernel`: the first
/// InfiniBand, RoCE or Omni-Path device and its rate, such as "mlx5 100 Gb/sec (4X EDR)"; else
/// "cxi" (Slingshot); else "ethernet" with the speed of the fastest interface, such as "ethernet
/// 1000 Mb/s". Interfaces of hardware come before virtual ones. "unknown" if there is none.
[[nodiscard]] std::string network_name(const std::string& kernel = "/sys/class");

}  // namespace tutti
