/// Finds conflicting accesses.
#include "verify/program_order.hpp"

#include "core/index.hpp"

namespace tutti {

void ProgramOrder::find_order(const Program& program) {
  const std::size_t count = program.operations.size();
  words_ = (count + 63) / 64;
  before_.assign(count * words_, 0);
  gate_.assign(words_, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const Operation& operation = program.operations[i];
    std::uint64_t* const row = &before_[i * words_];
    std::copy(gate_.begin(), gate_.end(), row);
    const auto add = [&](int other) {
      const auto bit = index(other);
      for (std::size_t word = 0; word < words_; ++word) row[word] |= before_[bit * words_ + word];
      row[bit / 64] |= std::uint64_t{1} << (bit % 64);
    };
    for (int need = operation.first_need; need < operation.last_need; ++need) {
      add(program.needs[index(need)]);
    }
    if (operation.kind != OperationKind::wait) continue;
    for (int other = operation.first; other < operation.last; ++other) add(other);
    std::copy(row, row + words_, gate_.begin());
  }
}

std::optional<AccessConflict> ProgramOrder::conflict(const Program& program,
                                                     std::vector<ByteAccess>& accesses) {
  bool is_known = false;
  return find_conflict(accesses, [&](int first, int second) {
    if (!is_known) find_order(program);
    is_known = true;
    return is_before(first, second);
  });
}

const std::vector<char>& ProgramOrder::after_arrival(const Program& program) {
  after_arrival_.clear();
  bool gate = false;
  for (const Operation& operation : program.operations) {
    const bool waits = operation.kind == OperationKind::wait;
    bool after = gate || (!waits && operation.runner == Runner::caller);
    for (int need = operation.first_need; need < operation.last_need; ++need) {
      after = after || after_arrival_[index(program.needs[index(need)])] != 0;
    }
    for (int other = operation.first; waits && other < operation.last; ++other) {
      after = after || after_arrival_[index(other)] != 0;
    }
    gate = gate || (waits && after);
    after_arrival_.push_back(after ? 1 : 0);
  }
  return after_arrival_;
}

}  // namespace tutti
