/// Notices of all ranks to all others, with nothing to carry and with as much as they can.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "run/rma/mpi_mailbox.hpp"

namespace {

/// The program waits no longer than this for notices until the alarm ends it.
constexpr unsigned patience = 60;
constexpr int each = 200;  // of one rank for one other: many times what may be on its way

void expect(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "mailbox: %s\n", what);
  std::abort();
}

/// Tells who has written it.
std::byte mark_of(int from) { return static_cast<std::byte>(from + 1); }

tutti::Bytes bytes_of(int number) {
  return number % 50 == 0 ? tutti::most_carried : number % 3 * 20;
}

std::vector<tutti::Rank> order_of(int number, int p) {
  return std::vector<tutti::Rank>(number % 7 == 0 ? static_cast<std::size_t>(p) : 0, number);
}

void exchange(int rank, int p) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::unique_ptr<tutti::RmaMailbox> mailbox;
  expect(tutti::RmaMailbox::open(comm, mailbox) == MPI_SUCCESS, "open");
  std::vector<int> posted(static_cast<std::size_t>(p), 0);
  std::vector<int> taken(static_cast<std::size_t>(p), 0);
  for (int open = 2 * each * (p - 1); open > 0;) {
    for (int other = 0; other < p; ++other) {
      int& mine = posted[static_cast<std::size_t>(other)];
      if (other == rank || mine == each || !mailbox->can_post(other)) continue;
      tutti::RmaNotice notice;
      notice.operation = ++mine;
      const auto carried = mailbox->compose(notice, order_of(mine, p), bytes_of(mine));
      std::fill(carried.begin(), carried.end(), mark_of(rank));
      expect(mailbox->post(other) == MPI_SUCCESS, "post");
      --open;
    }
    int error = MPI_SUCCESS;
    while (const auto mail = mailbox->take(error)) {
      int& theirs = taken[static_cast<std::size_t>(mail->from)];
      expect(mail->notice.operation == ++theirs, "the next notice");
      expect(static_cast<tutti::Bytes>(mail->carried.size()) == bytes_of(theirs), "its bytes");
      expect(mail->order == order_of(theirs, p), "the order");
      const auto wrong = std::count_if(mail->carried.begin(), mail->carried.end(),
                                       [&](std::byte b) { return b != mark_of(mail->from); });
      expect(wrong == 0, "what it carries");
      --open;
    }
    expect(error == MPI_SUCCESS, "take");
  }
  // What it has sent may still be the MPI's.
  int met = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  while (met == 0) {
    int error = MPI_SUCCESS;
    expect(!mailbox->take(error), "one notice more");
    MPI_Test(&request, &met, MPI_STATUS_IGNORE);
  }
  expect(mailbox->close() == MPI_SUCCESS, "close");
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int p = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  alarm(patience);
  exchange(rank, p);
  exchange(rank, p);
  MPI_Finalize();
  if (rank == 0) std::puts("all notices came once, in their sequence");
}
