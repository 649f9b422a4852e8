/// One-sided broadcasts: only their roots call, and all others get the data.
#include <tutti/tutti.h>

#include <array>
#include <chrono>
#include <cstring>
#include <numeric>

#include "harness.hpp"

namespace tutti::test {
namespace {

using Clock = std::chrono::steady_clock;

void expect(Context& context, int code, const std::string& what) {
  if (code != MPI_SUCCESS) context.fail(what + ": " + error_text(code));
}

enum class Flavour { create, allocate, shared };

/// A window of bytes with guards around it where its memory is the program's, registered.
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
      // With MPI_THREAD_MULTIPLE Open MPI 4.1 makes no window of given memory for a single rank, or
      // where processes may not read one another's memory.
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
    expect(context_, TUTTI_Rma_finalize(comm_), "TUTTI_Rma_finalize");
    for (std::size_t i = 0; flavour_ == Flavour::create && i < guard; ++i) {
      if (memory_[i] != filler || memory_[memory_.size() - 1 - i] != filler) {
        context_.fail("bytes beside the window were written");
        break;
      }
    }
    PMPI_Win_free(&handle_);
    PMPI_Comm_free(&comm_);
  }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;

  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] TUTTI_Window window() const { return window_; }
  [[nodiscard]] char* base() const { return base_; }
  /// Begins a broadcast of chars to a displacement.
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
  /// The window has been released.
  void forget() { window_ = TUTTI_WINDOW_NULL; }
  static constexpr char filler = 0x5a;

 private:
  static constexpr std::size_t guard = 64;

  Context& context_;
  Flavour flavour_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Win handle_ = MPI_WIN_NULL;
  TUTTI_Window window_ = TUTTI_WINDOW_NULL;
  std::vector<char> memory_;
  char* base_ = nullptr;
};

/// Bytes that tell the root and the operation.
std::vector<char> payload(int root, int operation, std::size_t bytes) {
  std::vector<char> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    data[i] = static_cast<char>(static_cast<std::size_t>(root * 37 + operation * 11) + i);
  }
  return data;
}

bool can_run(const Context& context) { return !context.options().native && context.threads(); }

class ForcedRma {
 public:
  explicit ForcedRma(const char* specification) {
    TUTTI_Algorithm_set("rma_bcast", specification, nullptr, nullptr);
  }
  ~ForcedRma() { TUTTI_Algorithm_set("rma_bcast", "auto", nullptr, nullptr); }
};

/// Every algorithm from every root, with sizes around what notifications carry.
void every_algorithm(Context& context) {
  if (!can_run(context)) return;
  constexpr std::size_t room = 40000;
  constexpr std::array<std::size_t, 5> sizes = {0, 1, 256, 257, 30001};
  Registered window(context, Flavour::create, room);
  std::vector<long long> numbers(static_cast<std::size_t>(context.size()), 0);
  for (const char* name :
       {"auto", "linear", "paznikov", "binomial", "binomial:carry=0,order=natural", "knomial:k=3",
        "chain:parts=20", "binary:parts=3"}) {
    const ForcedRma forced(name);
    for (int root = 0; root < context.size(); ++root) {
      for (const std::size_t bytes : sizes) {
        context.step(std::string(name) + " from " + std::to_string(root) + " of " +
                     std::to_string(bytes));
        const auto data = payload(root, static_cast<int>(bytes), bytes);
        if (context.rank() == root) window.flush(window.bcast(data, 5));
        window.wait(root, ++numbers[static_cast<std::size_t>(root)]);
        window.compare(5, data, "other bytes have arrived");
        if (window.base()[4] != Registered::filler) context.fail("the byte before was written");
        PMPI_Barrier(window.comm());
      }
    }
  }
}

/// Everyone is a root of many operations at once, without waiting for any of them.
void all_at_once(Context& context) {
  if (!can_run(context)) return;
  constexpr std::size_t bytes = 600;
  const int each = 40 * context.options().effort;
  const auto at = [&](int root, int operation) {
    return static_cast<std::size_t>(root * each + operation) * bytes;
  };
  Registered window(context, Flavour::create, at(context.size(), 0));
  std::vector<std::vector<char>> data;
  std::vector<TUTTI_Rma_request> requests;
  for (int i = 0; i < each; ++i) {
    data.push_back(payload(context.rank(), i, i % 3 == 0 ? 100 : bytes));
    requests.push_back(window.bcast(data.back(), static_cast<MPI_Aint>(at(context.rank(), i))));
  }
  for (const TUTTI_Rma_request request : requests) window.flush(request);
  for (int root = 0; root < context.size(); ++root) {
    window.wait(root, each);
    for (int i = 0; i < each; ++i) {
      window.compare(at(root, i), payload(root, i, i % 3 == 0 ? 100 : bytes),
                     "operation " + std::to_string(i) + " of " + std::to_string(root));
    }
  }
}

/// One root overwrites the same bytes again and again: the last one counts everywhere.
void one_after_the_other(Context& context) {
  if (!can_run(context)) return;
  constexpr std::size_t bytes = 3000;
  constexpr int each = 30;
  Registered window(context, Flavour::allocate, 4096);
  std::vector<std::vector<char>> data;
  std::vector<TUTTI_Rma_request> requests;
  if (context.rank() == 0) {
    for (int i = 0; i < each; ++i) data.push_back(payload(0, i, bytes));
    for (const auto& one : data) requests.push_back(window.bcast(one, 16));
    for (const TUTTI_Rma_request request : requests) window.flush(request);
  }
  window.wait(0, each);
  window.compare(16, payload(0, each - 1, bytes), "an older operation has come last");
}

/// The others do not call anything until the root's flush has returned.
void while_they_compute(Context& context) {
  if (!can_run(context)) return;
  Registered window(context, Flavour::allocate, 65536);
  const auto data = payload(3, 1, 50000);
  volatile char* last = window.base() + data.size() - 1;
  if (context.rank() == 0) {
    window.flush(window.bcast(data, 0));
  } else {
    // Without a call of the MPI or Tutti; it hangs where nobody takes the data on.
    while (__atomic_load_n(last, __ATOMIC_ACQUIRE) != data.back()) {
    }
  }
  window.wait(0, 1);
  window.compare(0, data, "other bytes have arrived");
}

/// Ranks count in units of their own; data have gaps; the buffer is the window itself.
void units_and_types(Context& context) {
  if (!can_run(context)) return;
  const int unit = context.rank() % 2 == 0 ? 4 : 12;
  Registered window(context, Flavour::create, 96000, unit);
  const int root = context.size() - 1;
  if (context.rank() == root) {
    MPI_Datatype every_other = MPI_DATATYPE_NULL;
    PMPI_Type_vector(2000, 1, 2, MPI_INT, &every_other);
    PMPI_Type_commit(&every_other);
    std::vector<int> data(4000);
    std::iota(data.begin(), data.end(), 0);
    TUTTI_Rma_request request = TUTTI_RMA_REQUEST_NULL;
    const ForcedRma forced("binary:parts=7");  // parts begin between units
    expect(context, TUTTI_Rma_bcast(data.data(), 1, every_other, 100, window.window(), &request),
           "TUTTI_Rma_bcast");
    window.flush(request);
    PMPI_Type_free(&every_other);
  }
  window.wait(root, 1);
  const auto* ints = reinterpret_cast<const int*>(window.base() + 100 * unit);
  for (int i = 0; i < 2000; ++i) {
    if (ints[i] != 2 * i) return context.fail("element " + std::to_string(i));
  }
  PMPI_Barrier(window.comm());
  if (context.rank() == 0) {
    const auto data = payload(0, 9, 1000);
    std::memcpy(window.base() + 40, data.data(), data.size());
    TUTTI_Rma_request request = TUTTI_RMA_REQUEST_NULL;
    expect(context,
           TUTTI_Rma_bcast(window.base() + 40, 1000, MPI_CHAR, 10, window.window(), &request),
           "from the window");
    window.flush(request);
  }
  window.wait(0, 1);
  window.compare(static_cast<std::size_t>(10 * unit), payload(0, 9, 1000), "from the window");
}

void expect_class(Context& context, int code, int expected, const std::string& what) {
  int found = MPI_SUCCESS;
  if (code != MPI_SUCCESS) PMPI_Error_class(code, &found);
  if (found != expected) context.fail(what + ": " + error_text(code));
}

void errors(Context& context) {
  if (!can_run(context)) return;
  Registered window(context, Flavour::create,
                    context.rank() == 0 && context.size() > 1 ? 4000 : 1000);
  TUTTI_Rma_request request = TUTTI_RMA_REQUEST_NULL;
  const std::vector<char> data(1000, 'x');
  const auto bcast = [&](int count, MPI_Datatype type, MPI_Aint at, TUTTI_Window to) {
    return TUTTI_Rma_bcast(data.data(), count, type, at, to, &request);
  };
  expect_class(context, bcast(1, MPI_CHAR, 1000, window.window()), MPI_ERR_RMA_RANGE, "beyond");
  expect_class(context, bcast(1000, MPI_CHAR, 1, window.window()), MPI_ERR_RMA_RANGE, "across");
  expect_class(context, bcast(1, MPI_CHAR, -1, window.window()), MPI_ERR_RMA_RANGE, "before");
  expect_class(context, bcast(-1, MPI_CHAR, 0, window.window()), MPI_ERR_COUNT, "count");
  expect_class(context, bcast(1, MPI_DATATYPE_NULL, 0, window.window()), MPI_ERR_TYPE, "type");
  expect_class(context, bcast(1, MPI_CHAR, 0, 987654), MPI_ERR_WIN, "no window");
  expect_class(context, TUTTI_Rma_wait(987654, 0, 1), MPI_ERR_WIN, "wait for no window");
  expect_class(context, TUTTI_Rma_wait(window.window(), -1, 1), MPI_ERR_ROOT, "no root");
  TUTTI_Rma_request unknown = 987654;
  expect_class(context, TUTTI_Rma_flush(&unknown), MPI_ERR_REQUEST, "no request");
  for (int i = 0; i < 1000; ++i) {
    if (window.base()[i] != Registered::filler) return context.fail("an error has written bytes");
  }
  MPI_Win dynamic = MPI_WIN_NULL;
  TUTTI_Window none = TUTTI_WINDOW_NULL;
  // Open MPI 4.1 makes none for a single rank.
  if (PMPI_Win_create_dynamic(MPI_INFO_NULL, window.comm(), &dynamic) == MPI_SUCCESS) {
    expect_class(context, TUTTI_Rma_window_register(dynamic, window.comm(), &none),
                 MPI_ERR_RMA_FLAVOR, "dynamic");
    PMPI_Win_free(&dynamic);
  }
  MPI_Comm other = MPI_COMM_NULL;
  PMPI_Comm_dup(window.comm(), &other);
  PMPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
  expect_class(context, TUTTI_Rma_finalize(other), MPI_ERR_COMM, "not initialised");
  PMPI_Comm_free(&other);
}

/// What is under way when windows and systems end is completed.
void ends_with_operations_under_way(Context& context) {
  if (!can_run(context)) return;
  std::vector<std::vector<char>> data;
  for (int i = 0; i < 10; ++i) data.push_back(payload(context.rank(), i, 500));
  Registered window(context, Flavour::shared, 5120 * static_cast<std::size_t>(context.size()));
  for (std::size_t i = 0; i < data.size(); ++i) {
    window.bcast(data[i], 5120 * context.rank() + static_cast<MPI_Aint>(512 * i));
  }
  TUTTI_Window released = window.window();
  expect(context, TUTTI_Rma_window_release(&released), "release");
  for (int root = 0; root < context.size(); ++root) {
    for (std::size_t i = 0; i < data.size(); ++i) {
      window.compare(static_cast<std::size_t>(5120 * root) + 512 * i,
                     payload(root, static_cast<int>(i), 500), "after the release");
    }
  }
  window.forget();
}

}  // namespace

void add_rma(Suite& suite) {
  suite.add("rma: every algorithm", every_algorithm);
  suite.add("rma: all ranks at once", all_at_once);
  suite.add("rma: one after the other", one_after_the_other);
  suite.add("rma: while the others compute", while_they_compute);
  suite.add("rma: units and datatypes", units_and_types);
  suite.add("rma: errors", errors);
  suite.add("rma: ends with operations under way", ends_with_operations_under_way);
}

}  // namespace tutti::test
