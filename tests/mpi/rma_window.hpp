/// Windows for tests of one-sided collectives.
#pragma once

#include <tutti/tutti.h>

#include <cstring>
#include <string>
#include <vector>

#include "calls.hpp"
#include "harness.hpp"
#include "layouts.hpp"

namespace tutti::test {

enum class Flavour { create, allocate, shared };

/// A registered window of bytes, with guards around it if its memory is the program's.
class Registered {
 public:
  Registered(Context& context, Flavour flavour, std::size_t bytes, int unit = 1)
      : context_(context), flavour_(flavour) {
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    const auto size = static_cast<MPI_Aint>(bytes);
    if (flavour_ == Flavour::create) {
      memory_.assign(bytes + 2 * guard, filler);
      base_ = memory_.data() + guard;
      // With MPI_THREAD_MULTIPLE Open MPI 4.1 cannot make a window of given memory for a single
      // rank, or if processes may not read each other's memory.
      if (PMPI_Win_create(base_, size, unit, MPI_INFO_NULL, comm_, &handle_) != MPI_SUCCESS) {
        flavour_ = Flavour::allocate;
      }
    }
    if (flavour_ == Flavour::allocate) {
      PMPI_Win_allocate(size, unit, MPI_INFO_NULL, comm_, &base_, &handle_);
    } else if (flavour_ == Flavour::shared) {
      PMPI_Win_allocate_shared(size, unit, MPI_INFO_NULL, comm_, &base_, &handle_);
    }
    std::memset(base_, filler, bytes);
    PMPI_Barrier(comm_);
    expect(context, TUTTI_Rma_init(comm_), "TUTTI_Rma_init");
    expect(context, TUTTI_Rma_window_register(handle_, comm_, &window_), "register");
  }
  ~Registered() {
    if (window_ != TUTTI_WINDOW_NULL) {
      expect(context_, TUTTI_Rma_window_release(&window_), "release");
    }
    if (!is_finalized_) expect(context_, TUTTI_Rma_finalize(comm_), "TUTTI_Rma_finalize");
    for (std::size_t i = 0; flavour_ == Flavour::create && i < guard; ++i) {
      if (memory_[i] != filler || memory_[memory_.size() - 1 - i] != filler) {
        context_.fail("bytes beside the window were written");
        break;
      }
    }
    if (handle_ != MPI_WIN_NULL) PMPI_Win_free(&handle_);
    PMPI_Comm_free(&comm_);
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;

  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] TUTTI_Window window() const { return window_; }
  [[nodiscard]] char* base() const { return base_; }
  /// Starts a broadcast of chars to a displacement.
  TUTTI_Rma_request bcast(const std::vector<char>& data, MPI_Aint at) {
    TUTTI_Rma_request request = TUTTI_RMA_REQUEST_NULL;
    expect(context_,
           TUTTI_Rma_bcast(data.data(), static_cast<int>(data.size()), MPI_CHAR, at, window_,
                           &request),
           "TUTTI_Rma_bcast");
    return request;
  }
  void flush(TUTTI_Rma_request request) {
    expect(context_, TUTTI_Rma_flush(&request), "TUTTI_Rma_flush");
    if (request != TUTTI_RMA_REQUEST_NULL) context_.fail("a complete request is not null");
  }
  void wait(int root, long long number) {
    expect(context_, TUTTI_Rma_wait(window_, root, number), "TUTTI_Rma_wait");
  }
  void compare(std::size_t at, const std::vector<char>& data, const std::string& what) {
    if (std::memcmp(base_ + at, data.data(), data.size()) != 0) context_.fail(what);
  }
  /// Frees the registered window by `free`, some MPI_Win_free.
  void free_by(int (*free)(MPI_Win*)) {
    expect(context_, free(&handle_), "MPI_Win_free");
    forget();
  }
  /// The contents of the window, which outlive it.
  [[nodiscard]] bool has_memory_of_program() const { return flavour_ == Flavour::create; }
  /// Releases the window and registers it again.
  void register_again() {
    expect(context_, TUTTI_Rma_window_release(&window_), "release");
    expect(context_, TUTTI_Rma_window_register(handle_, comm_, &window_), "register again");
  }
  /// Ends one-sided collectives on the communicator, without a release.
  void finalize() {
    expect(context_, TUTTI_Rma_finalize(comm_), "TUTTI_Rma_finalize");
    is_finalized_ = true;
    forget();
  }
  /// Records that the window has been released.
  void forget() { window_ = TUTTI_WINDOW_NULL; }
  static constexpr char filler = 0x5a;

 private:
  static constexpr std::size_t guard = 64;

  Context& context_;
  Flavour flavour_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Win handle_ = MPI_WIN_NULL;
  TUTTI_Window window_ = TUTTI_WINDOW_NULL;
  bool is_finalized_ = false;
  std::vector<char> memory_;
  char* base_ = nullptr;
};

/// Bytes that identify the root, the operation and their place: pieces of the data differ too.
inline std::vector<char> bytes_of(int root, int operation, std::size_t bytes) {
  std::vector<char> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    data[i] = static_cast<char>(payload(static_cast<unsigned>(operation), root, i));
  }
  return data;
}

/// Fails the case where one-sided collectives cannot run.
inline bool can_run(Context& context) {
  if (!context.threads()) context.fail("the MPI does not grant MPI_THREAD_MULTIPLE");
  return context.threads();
}

inline void expect_class(Context& context, int code, int expected, const std::string& what) {
  if (class_of(code) != expected) context.fail(what + ": " + error_text(code));
}

}  // namespace tutti::test
