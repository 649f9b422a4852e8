/// Message queues between threads.
#include "unit/run/thread_transport.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>

namespace tutti {

namespace {

Stretches stretches_of(const Region& region) {
  if (region.type == 0) return {{static_cast<std::byte*>(region.address), region.count}};
  return *reinterpret_cast<const Stretches*>(region.type);
}

}  // namespace

ThreadTransport::~ThreadTransport() { abandon(); }

int ThreadTransport::begin(int slot, const Transfer& transfer) {
  const std::lock_guard lock(network_.mutex_);
  Open& open = open_.emplace_back(Open{slot, transfer, false});
  if (transfer.sends) {
    network_.waiting_[{rank_, transfer.peer, transfer.tag}].push_back(
        {transfer.region, &open.taken});
  }
  return 0;
}

int ThreadTransport::poll(std::vector<int>& completed) {
  const std::lock_guard lock(network_.mutex_);
  for (Open& open : open_) {
    if (open.transfer.sends || open.taken) continue;
    const auto box = network_.waiting_.find({open.transfer.peer, rank_, open.transfer.tag});
    if (box == network_.waiting_.end()) continue;
    const ThreadNetwork::Message message = box->second.front();
    if (const int error = copy(message.region, open.transfer.region)) return error;
    *message.taken = true;
    open.taken = true;
    box->second.pop_front();
    if (box->second.empty()) network_.waiting_.erase(box);
  }
  for (const Open& open : open_) {
    if (open.taken && open.slot >= 0) completed.push_back(open.slot);
  }
  // Erases at the front only: this keeps the addresses of the other elements of a deque.
  for (Open& open : open_) {
    if (open.taken) open.slot = -1;
  }
  while (!open_.empty() && open_.front().slot < 0) open_.pop_front();
  return 0;
}

int ThreadTransport::copy(const Region& from, const Region& to) {
  if (from.count > to.count) return truncated;
  Stretches sources = stretches_of(from);
  Stretches targets = stretches_of(to);
  auto target = targets.begin();
  for (auto& [source, left] : sources) {
    while (left > 0) {
      const std::int64_t bytes = std::min(left, target->second);
      if (bytes > 0) std::memmove(target->first, source, static_cast<std::size_t>(bytes));
      source += bytes;
      left -= bytes;
      target->first += bytes;
      target->second -= bytes;
      if (target->second == 0) ++target;
    }
  }
  return 0;
}

void ThreadTransport::idle() { std::this_thread::yield(); }

void ThreadTransport::abandon() {
  const std::lock_guard lock(network_.mutex_);
  for (const Open& open : open_) {
    if (!open.transfer.sends) continue;
    const auto box = network_.waiting_.find({rank_, open.transfer.peer, open.transfer.tag});
    if (box == network_.waiting_.end()) continue;
    std::erase_if(box->second, [&](const ThreadNetwork::Message& message) {
      return message.taken == &open.taken;
    });
    if (box->second.empty()) network_.waiting_.erase(box);
  }
  open_.clear();
}

std::string ThreadTransport::waits_for() {
  const std::lock_guard lock(network_.mutex_);
  std::string text;
  for (const Open& open : open_) {
    if (open.taken) continue;
    text += (text.empty() ? "" : ", ") +
            std::string(open.transfer.sends ? "send to " : "recv from ") +
            std::to_string(open.transfer.peer) + " tag " + std::to_string(open.transfer.tag);
  }
  return text;
}

}  // namespace tutti
