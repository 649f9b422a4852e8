/// The node memory of shared results: memory with names, its bound, and a node without any.
#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>

#include "shared_results.hpp"

namespace {

/// Whether the system refuses memory without a name.
bool names_only = false;

}  // namespace

/// The library calls this function instead of the C library's.
extern "C" [[gnu::visibility("default")]] int memfd_create(const char* name,
                                                           unsigned flags) noexcept {
  if (!names_only) return static_cast<int>(syscall(SYS_memfd_create, name, flags));
  errno = ENOSYS;
  return -1;
}

namespace tutti::test {
namespace {

/// The names in /dev/shm of this process.
int own_names() {
  const std::string begin = "tutti-" + std::to_string(getpid()) + "-";
  int names = 0;
  DIR* const open = opendir("/dev/shm");
  while (const dirent* entry = open == nullptr ? nullptr : readdir(open)) {
    names += std::string(entry->d_name).starts_with(begin) ? 1 : 0;
  }
  if (open != nullptr) closedir(open);
  return names;
}

bool maps(const std::string& what) {
  std::ifstream all("/proc/self/maps");
  for (std::string line; std::getline(all, line);) {
    if (line.find(what) != std::string::npos) return true;
  }
  return false;
}

/// Systems that refuse memory without a name, or access to it.
void memory_with_names(Context& context) {
  names_only = true;
  {
    const OwnComm comm;
    const std::vector<int> counts(static_cast<std::size_t>(comm.size()), 700);
    for (int round = 0; round < 3; ++round) {
      void* const first = allgather(context, comm, 700, round, TUTTI_SHARED_READ_ONLY);
      void* const second = allgather(context, comm, 700 << round, 9, TUTTI_COPY_ON_WRITE);
      if (!holds(first, counts, round)) context.fail("it has changed");
      if (!maps("/dev/shm/tutti-")) context.fail("its memory has no name");
      if (own_names() != 0) context.fail("names are left");
      TUTTI_Shared_free(first);
      TUTTI_Shared_free(second);
    }
    void* refused = nullptr;
    const int code = TUTTI_Bcast_shared(nullptr, -1, MPI_INT, 0, comm.get(), 0, &refused);
    if (code == MPI_SUCCESS) context.fail("a negative count was taken");
    TUTTI_Shared_free(allgather(context, comm, 700, 1, TUTTI_SHARED_READ_ONLY));
  }
  names_only = false;
}

/// The pages of all node memory that this process has open.
long long open_node_memory() {
  const std::string folder = "/proc/self/fd/";
  long long bytes = 0;
  DIR* const open = opendir(folder.c_str());
  while (const dirent* entry = readdir(open)) {
    struct stat found {};
    char target[64] = {};
    const std::string path = folder + entry->d_name;
    if (readlink(path.c_str(), target, sizeof target - 1) < 0) continue;
    if (std::string(target).find("memfd:tutti") == std::string::npos) continue;
    if (stat(path.c_str(), &found) == 0) bytes += 512LL * found.st_blocks;
  }
  closedir(open);
  return bytes;
}

/// Released memory stays for later results, up to TUTTI_NODE_MEMORY.
void released_memory_is_bounded(Context& context) {
  constexpr long long bound = 128 << 10;  // of --nodes
  const char* const set = std::getenv("TUTTI_NODE_MEMORY");
  if (set == nullptr || std::string(set) != "128K") {
    return context.skip("needs --node-memory 128K");
  }
  const OwnComm comm;
  // Node memory itself, and that of one result.
  TUTTI_Shared_free(allgather(context, comm, 1, 0, TUTTI_SHARED_READ_ONLY));
  PMPI_Barrier(comm.get());
  const long long before = open_node_memory();
  const int count = (512 << 10) / 4 / comm.size();
  for (int round = 0; round < 2; ++round) {
    std::vector<void*> held;
    for (int i = 0; i < 3; ++i) {
      held.push_back(allgather(context, comm, count, i, TUTTI_SHARED_READ_ONLY));
    }
    if (open_node_memory() < before + (3LL * count * 4 * comm.size())) {
      context.fail("memory is not seen");
    }
    PMPI_Barrier(comm.get());
    for (void* const one : held) TUTTI_Shared_free(one);
    PMPI_Barrier(comm.get());
    const long long kept = open_node_memory() - before;
    if (kept > bound + 4 * 4096) context.fail("kept " + std::to_string(kept));
    if (round > 0 && kept < bound / 2) context.fail("kept only " + std::to_string(kept));
  }
}

/// Limits the size of this process's files during its lifetime.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
};

/// All ranks return the error of one node.
void a_node_has_no_memory(Context& context) {
  const OwnComm comm;
  TUTTI_Shared_free(allgather(context, comm, 1, 0, TUTTI_SHARED_READ_ONLY));
  const int count = 1 << 18;
  const std::vector<int> own = numbers(comm.rank(), count, 1);
  void* result = nullptr;
  int code = MPI_SUCCESS;
  {
    const FileLimit limit(comm.rank() == 0 ? 1 << 16 : RLIM_INFINITY);
    code = TUTTI_Allgather_shared(own.data(), count, MPI_INT, count, MPI_INT, comm.get(),
                                  TUTTI_SHARED_READ_ONLY, &result);
  }
  if (code == MPI_SUCCESS) context.fail("a node has no memory for it");
  TUTTI_Shared_free(allgather(context, comm, count, 2, TUTTI_SHARED_READ_ONLY));
}

/// What a child of fork releases stays with its parent.
void a_child_releases_it(Context& context) {
  const OwnComm comm;
  const std::vector<int> counts(static_cast<std::size_t>(comm.size()), 700);
  void* const held = allgather(context, comm, 700, 1, TUTTI_SHARED_READ_ONLY);
  const pid_t child = fork();
  if (child == 0) {
    TUTTI_Shared_free(held);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  MPI_Barrier(comm.get());
  if (comm.rank() != 0) TUTTI_Shared_free(held);
  MPI_Barrier(comm.get());
  void* const next = allgather(context, comm, 700, 2, TUTTI_SHARED_READ_ONLY);
  if (comm.rank() == 0 && !holds(held, counts, 1)) context.fail("it has changed");
  TUTTI_Shared_free(next);
  if (comm.rank() == 0) TUTTI_Shared_free(held);
}

}  // namespace

void add_shared_results_memory(Suite& suite) {
  suite.add_tutti_only("shared results, memory with names", memory_with_names);
  suite.add_tutti_only("shared results, bounded", released_memory_is_bounded);
  suite.add_tutti_only("shared results, a node without memory", a_node_has_no_memory);
  suite.add_tutti_only("shared results, released by a child", a_child_releases_it);
}

}  // namespace tutti::test
