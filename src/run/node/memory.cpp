/// Creates, opens and maps segments.
#include "run/node/memory.hpp"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace tutti {

namespace {

/// Is the size within RLIMIT_FSIZE? A larger file would end the program by a signal.
bool may_be_as_large(Bytes bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
         (limit.rlim_cur == RLIM_INFINITY || static_cast<rlim_t>(bytes) <= limit.rlim_cur);
}

int create_named(SegmentName& name) {
  static std::atomic<unsigned> made{0};
  int file = -1;
  do {
    std::snprintf(name.path.data(), name.path.size(), "/tutti-%d-%u", static_cast<int>(getpid()),
                  made++);
    file = shm_open(name.path.data(), O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    // A killed process with the same id may have left the name.
  } while (file < 0 && errno == EEXIST);
  return file;
}

/// Is this the file that `name` identifies?
bool is_file_of(const SegmentName& name, const struct stat& found) {
  return found.st_dev == name.device && found.st_ino == name.file && found.st_size == name.bytes;
}

}  // namespace

void Mapping::Unmap::operator()(std::byte* address) const { munmap(address, bytes); }

void Mapping::forbid() {
  constexpr int reservation = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (!*this) return;
  if (mmap(data(), bytes(), PROT_NONE, reservation, -1, 0) == MAP_FAILED) *this = Mapping();
}

std::unique_ptr<NodeSegment> NodeSegment::create(Bytes bytes, Kind kind) {
  if (!may_be_as_large(bytes)) return nullptr;
  std::unique_ptr<NodeSegment> segment(new NodeSegment(SegmentName()));
  SegmentName& name = segment->name_;
  name.by_process = kind == Kind::anonymous;
  name.bytes = bytes;
  const int file = name.by_process ? memfd_create("tutti", MFD_CLOEXEC) : create_named(name);
  if (file < 0) return nullptr;
  segment->file_ = file;
  segment->has_name_ = !name.by_process;
  if (name.by_process) {
    std::snprintf(name.path.data(), name.path.size(), "/proc/%d/fd/%d", static_cast<int>(getpid()),
                  file);
  }
  if (ftruncate(file, bytes) != 0) return nullptr;
  struct stat made {};
  if (fstat(file, &made) != 0) return nullptr;
  name.device = made.st_dev;
  name.file = made.st_ino;
  return segment;
}

std::unique_ptr<NodeSegment> NodeSegment::open(const SegmentName& name) {
  std::unique_ptr<NodeSegment> segment(new NodeSegment(name));
  struct stat found {};
  int& file = segment->file_;
  if (name.by_process) {
    // In another container the path may lead to any file: open only the expected one.
    if (stat(name.path.data(), &found) != 0 || !is_file_of(name, found)) return nullptr;
    file = ::open(name.path.data(), O_RDWR | O_CLOEXEC);
  } else {
    file = shm_open(name.path.data(), O_RDWR, 0);
  }
  if (file < 0 || fstat(file, &found) != 0 || !is_file_of(name, found)) return nullptr;
  return segment;
}

NodeSegment::~NodeSegment() {
  take_name_away();
  if (file_ >= 0) close(file_);
}

void NodeSegment::take_name_away() {
  if (std::exchange(has_name_, false)) shm_unlink(name_.path.data());
}

Mapping NodeSegment::map(SegmentView view) const {
  const int protection = view == SegmentView::read_only ? PROT_READ : PROT_READ | PROT_WRITE;
  const int sharing = view == SegmentView::copy_on_write ? MAP_PRIVATE : MAP_SHARED;
  const auto bytes = static_cast<std::size_t>(name_.bytes);
  void* address = mmap(nullptr, bytes, protection, sharing | MAP_NORESERVE, file_, 0);
  return address == MAP_FAILED ? Mapping() : Mapping(address, bytes);
}

void NodeSegment::release_pages(Bytes offset) const {
  fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, name_.bytes - offset);
}

bool NodeSegment::allocate() const {
  if (kind() == Kind::anonymous) return true;
  // A signal undoes a whole call: of short ones some get through between periodic signals.
  constexpr Bytes piece = Bytes{4} << 20;
  for (Bytes at = 0; at < name_.bytes; at += piece) {
    int error = EINTR;
    while (error == EINTR) {
      error = posix_fallocate(file_, at, std::min(piece, name_.bytes - at));
    }
    if (error != 0) return false;
  }
  return true;
}

Bytes page_bytes() { return sysconf(_SC_PAGESIZE); }

}  // namespace tutti
