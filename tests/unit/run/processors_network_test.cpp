/// Names of networks, from what kernels say.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "run/processors.hpp"
#include "temporary_folder.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;

class Network : public ::testing::Test {
 protected:
  void has(const std::string& file, const std::string& line) const {
    fs::create_directories((kernel_ / file).parent_path());
    std::ofstream(kernel_ / file) << line << "\n";
  }
  [[nodiscard]] std::string name(const std::string& emulated = "") const {
    return network_name(emulated, kernel_);
  }

 private:
  test::TemporaryFolder folder_;
  fs::path kernel_ = folder_.path();
};

TEST_F(Network, MayBeUnknown) {
  EXPECT_EQ(name(), "unknown");
  has("net/lo/speed", "10000");
  EXPECT_EQ(name(), "unknown");
}

TEST_F(Network, OfEmulatedNodesIsTheirText) {
  has("cxi/cxi0/device/vendor", "x");
  EXPECT_EQ(name("1,4,2"), "emulated 1,4,2");
}

TEST_F(Network, IsTheFastestInterface) {
  has("net/wlan0/operstate", "up");
  EXPECT_EQ(name(), "ethernet");
  has("net/veth1/speed", "10000");
  EXPECT_EQ(name(), "ethernet 10000 Mb/s");
  has("net/veth2/speed", "-1");
  EXPECT_EQ(name(), "ethernet 10000 Mb/s");
}

TEST_F(Network, OfHardwareComesBeforeVirtualOnes) {
  has("net/docker0/speed", "10000");
  has("net/eth0/speed", "1000");
  has("net/eth0/device/vendor", "x");
  has("net/eth1/speed", "2500");
  has("net/eth1/device/vendor", "x");
  has("net/veth1/speed", "40000");
  EXPECT_EQ(name(), "ethernet 2500 Mb/s");
}

TEST_F(Network, MayBeFasterThanEthernet) {
  has("net/eth0/speed", "1000");
  has("cxi/cxi0/device/vendor", "x");
  EXPECT_EQ(name(), "cxi");
  has("infiniband/mlx5_1/ports/1/rate", "200 Gb/sec (4X HDR)");
  has("infiniband/mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)");
  EXPECT_EQ(name(), "mlx5 100 Gb/sec (4X EDR)");
}

}  // namespace
}  // namespace tutti
