/// Finds conflicting accesses.
#include "verify/program_order.hpp"

#include <algorithm>
#include <tuple>

#include "core/index.hpp"

namespace tutti {

void ProgramOrder::find_order(const BufferAssignment& program) {
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
    if (operation.kind != StepKind::wait) continue;
    for (int other = operation.first; other < operation.last; ++other) add(other);
    std::copy(row, row + words_, gate_.begin());
  }
}

std::optional<AccessConflict> ProgramOrder::conflict(const BufferAssignment& program,
                                                     std::vector<ByteAccess>& accesses) {
  const auto key = [](const ByteAccess& access) {
    return std::tuple(access.area, access.bytes.begin, access.operation);
  };
  std::sort(accesses.begin(), accesses.end(),
            [&](const ByteAccess& a, const ByteAccess& b) { return key(a) < key(b); });
  bool is_known = false;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    for (std::size_t j = i + 1; j < accesses.size() && accesses[j].area == accesses[i].area &&
                                accesses[j].bytes.begin < accesses[i].bytes.end;
         ++j) {
      if (!accesses[i].writes && !accesses[j].writes) continue;
      if (!is_known) find_order(program);
      is_known = true;
      const bool in_sequence = accesses[i].operation <= accesses[j].operation;
      const ByteAccess& first = in_sequence ? accesses[i] : accesses[j];
      const ByteAccess& second = in_sequence ? accesses[j] : accesses[i];
      if (first.operation == second.operation || !is_before(first.operation, second.operation)) {
        return AccessConflict{first, second};
      }
    }
  }
  return std::nullopt;
}

const std::vector<char>& ProgramOrder::after_arrival(const BufferAssignment& program) {
  after_arrival_.clear();
  bool gate = false;
  for (const Operation& operation : program.operations) {
    const bool waits = operation.kind == StepKind::wait;
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
