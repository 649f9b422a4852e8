/// Identifies a node by a hash of host, boot and name spaces.
#include "run/node/mpi_node_names.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace tutti {

namespace {

/// FNV-1a: the same on all machines.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash;
}

std::string own_system() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  std::string text = host.data();
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  text += " " + boot;
  for (const char* space : {"/proc/self/ns/ipc", "/proc/self/ns/pid"}) {
    struct stat status {};
    if (stat(space, &status) == 0) text += " " + std::to_string(status.st_ino);
  }
  return text;
}

}  // namespace

int guess_nodes(MPI_Comm comm, const NodeSettings& settings, Nodes& nodes) {
  static const std::string system = own_system();
  int p = 0;
  Rank rank = 0;
  mpi().Comm_size(comm, &p);
  mpi().Comm_rank(comm, &rank);
  std::string own = system;
  if (settings.emulated) {
    own += " " + std::to_string(settings.emulated->node_of(world_rank(rank)));
  }
  const std::uint64_t mine = hash_of(own);
  std::vector<std::uint64_t> all(static_cast<std::size_t>(p));
  const int error =
      mpi().Allgather(&mine, sizeof mine, mpi().byte, all.data(), sizeof mine, mpi().byte, comm);
  if (error != MPI_SUCCESS) return error;
  std::map<std::uint64_t, int> numbers;
  std::vector<int> labels;
  for (const std::uint64_t name : all) {
    labels.push_back(numbers.try_emplace(name, static_cast<int>(numbers.size())).first->second);
  }
  nodes = Nodes::of(labels);
  return MPI_SUCCESS;
}

}  // namespace tutti
