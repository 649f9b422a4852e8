/// Notices of all ranks to all others, with a bell and without.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "run/mpi_rma_mailbox.hpp"

namespace {

/// The program waits no longer than this for notices until the alarm ends it.
constexpr unsigned patience = 60;
constexpr std::int64_t each = 200;  // of one rank for one other: many times a ring of slots

void expect(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "mailbox: %s\n", what);
  std::abort();
}

/// Tells who has written it.
std::array<std::byte, 40> carried_of(int from) {
  std::array<std::byte, 40> carried{};
  carried.fill(static_cast<std::byte>(from + 1));
  return carried;
}

void exchange(int rank, int p, int bell_from) {
  std::unique_ptr<tutti::RmaMailbox> mailbox;
  expect(tutti::RmaMailbox::open(MPI_COMM_WORLD, mailbox, bell_from) == MPI_SUCCESS, "open");
  const bool has_bell = p >= bell_from;
  expect(mailbox->may_have_notices() != has_bell, "the bell of an empty mailbox");
  MPI_Barrier(MPI_COMM_WORLD);
  std::vector<std::int64_t> posted(static_cast<std::size_t>(p), 0);
  std::vector<std::int64_t> taken(static_cast<std::size_t>(p), 0);
  std::int64_t open = 2 * each * (p - 1);
  while (open > 0) {
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    for (int other = 0; other < p; ++other) {
      if (other == rank) continue;
      const auto at = static_cast<std::size_t>(other);
      if (posted[at] < each && mailbox->can_post(other)) {
        tutti::RmaNotice notice;
        notice.operation = ++posted[at];
        expect(mailbox->post(other, notice, carried_of(rank)) == MPI_SUCCESS, "post");
        --open;
      }
      if (!mailbox->may_have_notices()) continue;
      const std::byte* carried = nullptr;
      int error = MPI_SUCCESS;
      const auto notice = mailbox->take(other, carried, error);
      if (!notice) continue;
      expect(error == MPI_SUCCESS && notice->operation == ++taken[at], "the next notice");
      const auto expected = carried_of(other);
      expect(std::memcmp(carried, expected.data(), expected.size()) == 0, "what it carries");
      --open;
    }
  }
  // All bells have rung once all ranks' accumulates are complete.
  MPI_Barrier(MPI_COMM_WORLD);
  expect(mailbox->close() == MPI_SUCCESS, "close");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int p = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  alarm(patience);
  exchange(rank, p, tutti::RmaMailbox::bell_from);
  exchange(rank, p, 1);
  MPI_Finalize();
  if (rank == 0) std::puts("all notices came once, in their sequence");
}
