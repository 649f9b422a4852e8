/// Reads the names and speeds of network devices.
#include "run/network.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <vector>

#include "run/file.hpp"

namespace tutti {

namespace {

namespace fs = std::filesystem;

/// In alphabetical sequence; empty if there is no such folder.
std::vector<fs::path> devices_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    found.push_back(at->path());
  }
  std::ranges::sort(found);
  return found;
}

/// In Mb/s; 0 if unknown, or if the interface is down.
long speed_of(const fs::path& interface) {
  const std::string line = line_of(interface / "speed");
  long speed = 0;
  std::from_chars(line.data(), line.data() + line.size(), speed);
  return std::max(0L, speed);
}

std::string ethernet_in(const fs::path& folder) {
  bool is_any = false;
  bool is_hardware = false;
  long fastest = 0;
  for (const fs::path& interface : devices_in(folder)) {
    if (interface.filename() == "lo") continue;
    std::error_code error;
    const bool has_device = fs::exists(interface / "device", error);
    if (is_hardware && !has_device) continue;
    if (has_device && !is_hardware) fastest = 0;
    is_any = true;
    is_hardware = has_device;
    fastest = std::max(fastest, speed_of(interface));
  }
  if (!is_any) return "unknown";
  return fastest == 0 ? "ethernet" : "ethernet " + std::to_string(fastest) + " Mb/s";
}

}  // namespace

std::string network_name(const std::string& kernel) {
  const fs::path folder(kernel);
  if (const auto devices = devices_in(folder / "infiniband"); !devices.empty()) {
    const std::string device = devices.front().filename();
    const std::string rate = line_of(devices.front() / "ports" / "1" / "rate");
    const std::string name = device.substr(0, device.rfind('_'));
    return rate.empty() ? name : name + " " + rate;
  }
  if (!devices_in(folder / "cxi").empty()) return "cxi";
  return ethernet_in(folder / "net");
}

}  // namespace tutti
