/// Threads that share a channel: nobody waits, nothing is left behind, no sequence is lost.
#include "run/arrival/message_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

namespace tutti {
namespace {

using Words = std::vector<std::int64_t>;

ControlWords control_words(Words words) { return std::make_shared<const Words>(std::move(words)); }

/// What the channel saw; outlives it.
struct Seen {
  std::vector<Words> sent;
  std::vector<Words> coming;  ///< what receive() brings, the last one first
  std::atomic<int> users{0};
  bool is_shared = false;            ///< two threads were at it at once
  std::function<void()> at_receive;  ///< called in each receive()
  int error = 0;                     ///< of each send
  bool lacks_memory = false;         ///< at the next send
};

class FakeChannel final : public ControlChannel {
 public:
  explicit FakeChannel(Seen& seen) : seen_(seen) {}

  int send(Rank, ControlWords words) override {
    const Use use(seen_);
    if (std::exchange(seen_.lacks_memory, false)) throw std::bad_alloc();
    seen_.sent.push_back(*words);
    return seen_.error;
  }

  int receive(Rank& from, Words& words) override {
    const Use use(seen_);
    if (seen_.at_receive) seen_.at_receive();
    words.clear();
    if (seen_.coming.empty()) return 0;
    from = 1;
    words = std::move(seen_.coming.back());
    seen_.coming.pop_back();
    return 0;
  }

  [[nodiscard]] bool is_empty() const override { return true; }

 private:
  struct Use {
    explicit Use(Seen& of) : seen(of) {
      if (seen.users.fetch_add(1) != 0) seen.is_shared = true;
    }
    ~Use() { --seen.users; }
    Seen& seen;
  };
  Seen& seen_;
};

void ignore(Rank, const Words&) {}

TEST(MessageQueue, LeavesNothingBehindAndKeepsEachWritersSequence) {
  Seen seen;
  MessageQueue mail;
  mail.open(std::make_unique<FakeChannel>(seen), ignore);
  constexpr std::int64_t letters = 500;
  std::vector<std::thread> writers;
  for (std::int64_t writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&mail, writer] {
      for (std::int64_t letter = 0; letter < letters; ++letter) {
        mail.write(0, control_words({writer, letter}));
        mail.take_turn();
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  // Each letter has left by now, though its writer may have found the turn taken.
  EXPECT_EQ(seen.sent.size(), 4 * letters);
  EXPECT_FALSE(seen.is_shared);
  std::map<std::int64_t, std::int64_t> next;
  for (const Words& words : seen.sent) EXPECT_EQ(words[1], next[words[0]]++);
}

TEST(MessageQueue, LetsNobodyWaitForTheThreadThatIsAtIt) {
  Seen seen;
  std::promise<void> inside;
  std::promise<void> go_on;
  bool first = true;
  seen.at_receive = [&] {
    if (!std::exchange(first, false)) return;
    inside.set_value();
    go_on.get_future().wait();
  };
  MessageQueue mail;
  mail.open(std::make_unique<FakeChannel>(seen), ignore);
  std::thread other([&] { mail.take_turn(); });
  inside.get_future().wait();
  mail.write(0, control_words({7}));
  EXPECT_FALSE(mail.take_turn()) << "returns while the other thread is in receive()";
  go_on.set_value();
  other.join();
  EXPECT_EQ(seen.sent, std::vector<Words>{{7}}) << "the other thread has looked once more";
}

TEST(MessageQueue, SendsWhatItsReaderWrites) {
  Seen seen;
  seen.coming = {{3}, {2}, {1}};
  MessageQueue mail;
  std::vector<Words> read;
  mail.open(std::make_unique<FakeChannel>(seen), [&](Rank from, const Words& words) {
    read.push_back(words);
    mail.write(from, control_words({10 * words[0]}));
  });
  EXPECT_TRUE(mail.take_turn());
  EXPECT_EQ(read, (std::vector<Words>{{1}, {2}, {3}}));
  EXPECT_EQ(seen.sent, (std::vector<Words>{{10}, {20}, {30}}));
  EXPECT_FALSE(mail.take_turn());
}

TEST(MessageQueue, SendsLaterWhatAnExceptionHasStopped) {
  Seen seen;
  MessageQueue mail;
  mail.open(std::make_unique<FakeChannel>(seen), ignore);
  mail.write(0, control_words({1}));
  mail.write(0, control_words({2}));
  seen.lacks_memory = true;
  EXPECT_THROW(mail.take_turn(), std::bad_alloc);
  mail.write(0, control_words({3}));
  mail.take_turn();
  EXPECT_EQ(seen.sent, (std::vector<Words>{{1}, {2}, {3}}));
}

TEST(MessageQueue, KeepsItsFirstErrorAndGoesOn) {
  Seen seen;
  seen.error = 5;
  MessageQueue mail;
  mail.open(std::make_unique<FakeChannel>(seen), ignore);
  mail.write(0, control_words({1}));
  bool over = false;
  EXPECT_EQ(mail.take_own_turn(over), 5);
  EXPECT_TRUE(over);
  seen.error = 6;
  mail.write(0, control_words({2}));
  mail.take_turn();
  EXPECT_EQ(mail.first_error(), 5);
  EXPECT_EQ(seen.sent.size(), 2U);
  mail.fail(7);
  EXPECT_EQ(mail.first_error(), 5);
  mail.close();
  mail.write(0, control_words({3}));
  EXPECT_FALSE(mail.take_turn()) << "what is written after the end goes nowhere";
  EXPECT_EQ(seen.sent.size(), 2U);
}

}  // namespace
}  // namespace tutti
