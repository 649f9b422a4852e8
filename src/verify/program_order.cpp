/// Finds conflicting accesses.
#include "verify/program_order.hpp"

namespace tutti {

void ProgramOrder::find_order(const Program& program) {
  const auto gate = static_cast<int>(program.operations.size());
  before_.start(gate, gate + 1);
  for (int i = 0; i < gate; ++i) {
    const Operation& operation = program.operations[index(i)];
    const auto add = [&](int other) {
      before_.insert_all(i, other);
      before_.insert(i, other);
    };
    before_.insert_all(i, gate);
    for (int need = operation.first_need; need < operation.last_need; ++need) {
      add(program.needs[index(need)]);
    }
    if (operation.kind != OperationKind::wait) continue;
    for (int other = operation.first; other < operation.last; ++other) add(other);
    before_.insert_all(gate, i);
  }
}

std::optional<AccessConflict> ProgramOrder::conflict(const Program& program,
                                                     std::vector<ByteAccess>& accesses) {
  bool is_known = false;
  return find_conflict(accesses, [&](int first, int second) {
    if (!is_known) find_order(program);
    is_known = true;
    return before_.contains(second, first);
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
