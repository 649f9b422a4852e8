/// One-sided broadcasts: only the root calls, and all other ranks get the data.
#include <array>
#include <numeric>

#include "rma_window.hpp"

namespace tutti::test {
namespace {

/// Broadcasts inside a notification.
constexpr std::size_t max_carried = 32768;

/// Every algorithm from every root, with sizes around the capacity of a notification.
void every_algorithm(Context& context) {
  if (!can_run(context)) return;
  constexpr std::size_t room = 80000;
  constexpr std::array<std::size_t, 5> sizes = {0, 1, max_carried, max_carried + 1, 70001};
  Registered window(context, Flavour::create, room);
  std::vector<long long> numbers(static_cast<std::size_t>(context.size()), 0);
  for (const char* name :
       {"auto", "linear", "paznikov", "binomial", "binomial:carry=0,order=natural", "knomial:k=3",
        "chain:parts=20", "binary:parts=3", "binary:parts=3,carry=100", "binomial:carry=all",
        "binomial:nodes=on", "knomial:k=3,order=arrival", "chain:parts=3,order=by_size,nodes=on"}) {
    const Forced forced(context, "rma_bcast", name);
    for (int root = 0; root < context.size(); ++root) {
      for (const std::size_t bytes : sizes) {
        context.step(std::string(name) + " from " + std::to_string(root) + " of " +
                     std::to_string(bytes));
        const auto data = bytes_of(root, static_cast<int>(bytes), bytes);
        if (context.rank() == root) window.flush(window.bcast(data, 5));
        window.wait(root, ++numbers[static_cast<std::size_t>(root)]);
        window.compare(5, data, "other bytes have arrived");
        if (window.base()[4] != Registered::filler) context.fail("the byte before was written");
        PMPI_Barrier(window.comm());
      }
    }
  }
}

/// Notifications in windows: from every root, more broadcasts at once than a rank may have requests
/// under way at another, and next to operations with messages.
void notifications_in_windows(Context& context) {
  if (!can_run(context)) return;
  constexpr const char* in_windows = "paznikov:protocol=windows";
  constexpr std::size_t bytes = 700;
  constexpr int each = 90;
  const auto at = [&](int root, int operation) {
    return static_cast<std::size_t>(root * each + operation) * bytes;
  };
  {
    const Forced forced(context, "rma_bcast", in_windows);
    Registered window(context, Flavour::allocate, (at(context.size(), 0) + 63) / 64 * 64);
    std::vector<std::vector<char>> data;
    std::vector<TUTTI_Rma_request> requests;
    for (int i = 0; i < each; ++i) {
      if (i == each - 5) TUTTI_Algorithm_set("rma_bcast", "binomial", nullptr, nullptr);
      data.push_back(bytes_of(context.rank(), i, i % 7 == 0 ? 0 : bytes));
      requests.push_back(window.bcast(data.back(), static_cast<MPI_Aint>(at(context.rank(), i))));
    }
    for (const TUTTI_Rma_request request : requests) window.flush(request);
    for (int root = 0; root < context.size(); ++root) {
      window.wait(root, each);
      for (int i = 0; i < each; ++i) {
        window.compare(at(root, i), bytes_of(root, i, i % 7 == 0 ? 0 : bytes),
                       "operation " + std::to_string(i) + " of " + std::to_string(root));
      }
    }
  }
  // Where no rank requested them at the start there are no such windows.
  Registered without(context, Flavour::allocate, 64);
  const Forced forced(context, "rma_bcast", in_windows);
  TUTTI_Rma_request request = TUTTI_RMA_REQUEST_NULL;
  const char byte = 1;
  expect_class(context, TUTTI_Rma_bcast(&byte, 1, MPI_CHAR, 0, without.window(), &request),
               MPI_ERR_UNSUPPORTED_OPERATION, "without windows for notifications");
}

/// Puts and notifications into windows of all kinds of memory.
void every_flavour(Context& context) {
  if (!can_run(context)) return;
  constexpr std::size_t bytes = 3000;
  for (const Flavour flavour : {Flavour::create, Flavour::allocate, Flavour::shared}) {
    Registered window(context, flavour, 4096);
    long long number = 0;
    for (const char* name : {"linear:carry=0", "binomial:carry=0", "chain:carry=0,parts=3"}) {
      const Forced forced(context, "rma_bcast", name);
      context.step(std::string(name) + ", flavour " + std::to_string(static_cast<int>(flavour)));
      const auto data = bytes_of(context.size() - 1, static_cast<int>(++number), bytes);
      if (context.rank() == context.size() - 1) window.flush(window.bcast(data, 7));
      window.wait(context.size() - 1, number);
      window.compare(7, data, "other bytes have arrived");
      PMPI_Barrier(window.comm());
    }
  }
}

/// Every rank is the root of many concurrent operations.
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
    data.push_back(bytes_of(context.rank(), i, i % 3 == 0 ? 100 : bytes));
    requests.push_back(window.bcast(data.back(), static_cast<MPI_Aint>(at(context.rank(), i))));
  }
  for (const TUTTI_Rma_request request : requests) window.flush(request);
  for (int root = 0; root < context.size(); ++root) {
    window.wait(root, each);
    for (int i = 0; i < each; ++i) {
      window.compare(at(root, i), bytes_of(root, i, i % 3 == 0 ? 100 : bytes),
                     "operation " + std::to_string(i) + " of " + std::to_string(root));
    }
  }
}

/// One root repeatedly overwrites the same bytes: the last operation wins at all ranks.
void one_after_the_other(Context& context) {
  if (!can_run(context)) return;
  constexpr std::size_t bytes = 3000;
  constexpr int each = 30;
  Registered window(context, Flavour::allocate, 4096);
  std::vector<std::vector<char>> data;
  std::vector<TUTTI_Rma_request> requests;
  if (context.rank() == 0) {
    for (int i = 0; i < each; ++i) data.push_back(bytes_of(0, i, bytes));
    for (const auto& one : data) requests.push_back(window.bcast(one, 16));
    for (const TUTTI_Rma_request request : requests) window.flush(request);
  }
  window.wait(0, each);
  window.compare(16, bytes_of(0, each - 1, bytes), "an older operation has come last");
}

/// The other ranks make no call until the root's flush has returned.
void while_they_compute(Context& context) {
  if (!can_run(context)) return;
  Registered window(context, Flavour::allocate, 65536);
  auto data = bytes_of(3, 1, 50000);
  data.back() = static_cast<char>(Registered::filler + 1);  // not what it holds before
  volatile char* last = window.base() + data.size() - 1;
  if (context.rank() == 0) {
    window.flush(window.bcast(data, 0));
  } else {
    // No call of the MPI or Tutti: it hangs if no thread forwards the data.
    while (__atomic_load_n(last, __ATOMIC_ACQUIRE) != data.back()) {
    }
  }
  window.wait(0, 1);
  window.compare(0, data, "other bytes have arrived");
}

/// Displacement units differ between ranks; data have gaps; the buffer is the window itself.
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
    const Forced forced(context, "rma_bcast", "binary:parts=7");  // parts start between units
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
    const auto data = bytes_of(0, 9, 1000);
    std::memcpy(window.base() + 40, data.data(), data.size());
    TUTTI_Rma_request request = TUTTI_RMA_REQUEST_NULL;
    expect(context,
           TUTTI_Rma_bcast(window.base() + 40, 1000, MPI_CHAR, 10, window.window(), &request),
           "from the window");
    window.flush(request);
  }
  window.wait(0, 1);
  window.compare(static_cast<std::size_t>(10 * unit), bytes_of(0, 9, 1000), "from the window");
}

/// A window may be released and registered repeatedly.
void registered_again(Context& context) {
  if (!can_run(context)) return;
  Registered window(context, Flavour::allocate, 4096);
  for (int time = 0; time < 3; ++time) {
    const auto data = bytes_of(0, time, 3000);
    if (context.rank() == 0) window.flush(window.bcast(data, 1));
    window.wait(0, 1);
    window.compare(1, data, "other bytes have arrived");
    window.register_again();
  }
}

/// Displacements that are far apart in the root's units but overlap in those of other ranks: the
/// operation that started last wins.
void places_that_meet_elsewhere(Context& context) {
  if (!can_run(context)) return;
  Registered window(context, Flavour::create, 8192, context.rank() == 0 ? 8 : 1);
  constexpr int each = 200;
  std::vector<std::vector<char>> data;
  if (context.rank() == 0) {
    std::vector<TUTTI_Rma_request> requests;
    for (int i = 0; i < each; ++i) data.push_back(bytes_of(0, i, 8));
    for (int i = 0; i < each; ++i) {
      const Forced forced(context, "rma_bcast", i % 2 == 0 ? "chain:carry=0" : "linear");
      requests.push_back(window.bcast(data[static_cast<std::size_t>(i)], i));
    }
    for (const TUTTI_Rma_request request : requests) window.flush(request);
  }
  window.wait(0, each);
  if (context.rank() == 0) return;
  for (int i = 0; i < each; ++i) {
    if (window.base()[i] != bytes_of(0, i, 8)[0]) {
      return context.fail("byte " + std::to_string(i) + " is of another operation");
    }
  }
}

/// Active operations are completed when windows are released and one-sided collectives end.
void ends_with_operations_under_way(Context& context) {
  if (!can_run(context)) return;
  std::vector<std::vector<char>> data;
  for (int i = 0; i < 10; ++i) data.push_back(bytes_of(context.rank(), i, 500));
  Registered window(context, Flavour::shared, 5120 * static_cast<std::size_t>(context.size()));
  for (std::size_t i = 0; i < data.size(); ++i) {
    window.bcast(data[i], 5120 * context.rank() + static_cast<MPI_Aint>(512 * i));
  }
  TUTTI_Window released = window.window();
  expect(context, TUTTI_Rma_window_release(&released), "release");
  for (int root = 0; root < context.size(); ++root) {
    for (std::size_t i = 0; i < data.size(); ++i) {
      window.compare(static_cast<std::size_t>(5120 * root) + 512 * i,
                     bytes_of(root, static_cast<int>(i), 500), "after the release");
    }
  }
  window.forget();
}

/// The end of one-sided collectives on the communicator completes active operations and releases
/// the window.
void finalized_with_operations_under_way(Context& context) {
  if (!can_run(context)) return;
  constexpr std::size_t bytes = 3000;
  constexpr std::size_t room = 3008;  // a multiple of 16, see docs/one-sided.md
  Registered window(context, Flavour::allocate, room * static_cast<std::size_t>(context.size()));
  const TUTTI_Window number = window.window();
  const auto data = bytes_of(context.rank(), 1, bytes);
  const TUTTI_Rma_request request =
      window.bcast(data, static_cast<MPI_Aint>(room) * context.rank());
  window.finalize();
  for (int root = 0; root < context.size(); ++root) {
    window.compare(room * static_cast<std::size_t>(root), bytes_of(root, 1, bytes),
                   "after the end");
  }
  window.flush(request);
  expect_class(context, TUTTI_Rma_wait(number, 0, 1), MPI_ERR_WIN, "a window after the end");
}

/// Operations on the window of one communicator neither write nor count in that of another.
void windows_of_two_communicators(Context& context) {
  if (!can_run(context)) return;
  constexpr std::size_t room = 3008;
  constexpr int each = 6;
  const std::size_t bytes = room * static_cast<std::size_t>(context.size());
  Registered one(context, Flavour::create, bytes);
  Registered other(context, Flavour::allocate, bytes);
  std::vector<std::vector<char>> data;
  std::vector<TUTTI_Rma_request> requests;
  const MPI_Aint at = static_cast<MPI_Aint>(room) * context.rank();
  for (int i = 0; i < 2 * each - 1; ++i) {  // one operation less on the other window
    data.push_back(bytes_of(context.rank(), i, room));
    requests.push_back((i % 2 == 0 ? one : other).bcast(data.back(), at));
  }
  for (const TUTTI_Rma_request request : requests) one.flush(request);
  for (int root = 0; root < context.size(); ++root) {
    one.wait(root, each);
    other.wait(root, each - 1);
    const std::size_t place = room * static_cast<std::size_t>(root);
    one.compare(place, bytes_of(root, 2 * each - 2, room), "other bytes of the first window");
    other.compare(place, bytes_of(root, 2 * each - 3, room), "other bytes of the second window");
    long long arrived = 0;
    expect(context, TUTTI_Rma_arrived(other.window(), root, &arrived), "TUTTI_Rma_arrived");
    if (arrived != each - 1) context.fail("operations of the first window count in the second");
  }
}

}  // namespace

void add_rma(Suite& suite) {
  suite.add_tutti_only("rma: every algorithm", every_algorithm);
  suite.add_tutti_only("rma: windows of every flavour", every_flavour);
  suite.add_tutti_only("rma: notifications in windows", notifications_in_windows);
  suite.add_tutti_only("rma: all ranks at once", all_at_once);
  suite.add_tutti_only("rma: one after the other", one_after_the_other);
  suite.add_tutti_only("rma: while the others compute", while_they_compute);
  suite.add_tutti_only("rma: units and datatypes", units_and_types);
  suite.add_tutti_only("rma: registered again", registered_again);
  suite.add_tutti_only("rma: places that meet elsewhere", places_that_meet_elsewhere);
  suite.add_tutti_only("rma: ends with operations under way", ends_with_operations_under_way);
  suite.add_tutti_only("rma: finalized with operations under way",
                       finalized_with_operations_under_way);
  suite.add_tutti_only("rma: windows of two communicators", windows_of_two_communicators);
  add_rma_errors(suite);
}

}  // namespace tutti::test
