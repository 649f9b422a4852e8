/// Closes the order of operations transitively.
#include "verify/program_order.hpp"

namespace tutti {

void ProgramOrder::find() {
  is_known_ = true;
  const std::vector<Operation>& operations = program_->operations;
  const auto count = static_cast<int>(operations.size());
  const RankSets::Set gate = count;
  before_.start(count + 1, count + 1);
  for (int i = 0; i < count; ++i) {
    const Operation& operation = operations[index(i)];
    const bool waits = operation.kind == OperationKind::wait;
    const auto add = [&](int other) {
      before_.insert_all(i, other);
      before_.insert(i, other);
    };
    before_.insert_all(i, gate);
    for (int need = operation.first_need; need < operation.last_need; ++need) {
      add(program_->needs[index(need)]);
    }
    for (int other = operation.first; waits && other < operation.last; ++other) add(other);
    if (waits) before_.insert_all(gate, i);
    if (!waits && operation.runner == Runner::caller) before_.insert(i, arrival());
  }
}

}  // namespace tutti
