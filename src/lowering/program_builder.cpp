/// Finds what operations need, from the bytes that they use.
#include "lowering/program_builder.hpp"

#include <algorithm>

namespace tutti {

void run_in_sequence(Program& program) {
  program.needs.clear();
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    Operation& operation = program.operations[i];
    operation.first_need = static_cast<int>(program.needs.size());
    if (i > 0) program.needs.push_back(static_cast<int>(i) - 1);
    operation.last_need = static_cast<int>(program.needs.size());
  }
}

Program ProgramBuilder::done() {
  program_.scratch = memory_.scratch();
  return std::move(program_);
}

Operation& ProgramBuilder::append(OperationKind kind, Runner runner) {
  Operation& operation = program_.operations.emplace_back();
  operation.kind = kind;
  operation.runner = runner;
  operation.step = static_cast<StepId>(steps()) - 1;
  operation.first_need = operation.last_need = static_cast<int>(program_.needs.size());
  return operation;
}

/// Ends the last operation. Drops from its needs what is listed twice or has completed.
void ProgramBuilder::end_operation() {
  std::vector<int>& needs = program_.needs;
  Operation& operation = program_.operations.back();
  const auto first = needs.begin() + operation.first_need;
  std::sort(first, needs.end());
  needs.erase(std::unique(first, needs.end()), needs.end());
  const auto is_completed = [&](int other) {
    return index(other) < completed_.size() && completed_[index(other)] != 0;
  };
  needs.erase(std::remove_if(first, needs.end(), is_completed), needs.end());
  operation.last_need = static_cast<int>(needs.size());
}

/// The last operation uses `bytes` bytes from `offset` on of the values at `spot`.
BufferRef ProgramBuilder::use(const Blocks& blocks, Spot spot, Bytes offset, Bytes bytes,
                              bool writes) {
  BufferRef ref = {memory_.area(spot), {}, memory_.offset(spot) + offset, bytes, false};
  if (is_typed(spot)) {
    ref.blocks = blocks;
    ref.offset = offset;
    ref.whole = offset == 0 && bytes == blocks_.size(blocks);
  } else if (!blocks_.are_reduced() && ref.area != Area::staging) {
    ref.blocks = blocks;
    ref.whole = bytes == blocks_.size(blocks_.everything());
  }
  std::vector<int>& needs = program_.needs;
  if (blocks.holes.empty() || !is_typed(spot) || ref.area == Area::send) {
    memory_.use(count() - 1, moved(spot, offset), bytes, writes, needs);
    return ref;
  }
  blocks.for_each_run([&](BlockRange run) {
    memory_.use(count() - 1, blocks_.result_of(run.begin), blocks_.size(run), writes, needs);
  });
  return ref;
}

void ProgramBuilder::add_local(OperationKind kind, const Piece& piece, Runner runner) {
  const bool is_callers = blocks_.are_reduced() || piece.from.stretch == MemoryUse::send_buffer;
  Operation& operation = append(kind, is_callers ? Runner::caller : runner);
  operation.from = use(piece.blocks, piece.from, 0, piece.bytes, false);
  operation.to = use(piece.blocks, piece.to, 0, piece.bytes, true);
  end_operation();
}

void ProgramBuilder::add_message(const Step& step, Spot spot) {
  const bool sends = step.kind == StepKind::send;
  Operation& operation = append(sends ? OperationKind::send : OperationKind::recv, step.runner);
  operation.peer = step.peer;
  std::vector<int>& before = (sends ? sent_ : received_)[step.peer];
  operation.message = static_cast<int>(before.size());
  operation.slots = step.slots;
  if (operation.message >= message_tags) {
    program_.needs.push_back(before[index(operation.message - message_tags)]);
  }
  before.push_back(count() - 1);
  if (step.after >= 0) {
    const int end = first_operation_[index(step.after) + 1];
    for (int other = first_operation_[index(step.after)]; other < end; ++other) {
      program_.needs.push_back(other);
    }
  }
  if (step.bytes > 0) {
    (sends ? operation.from : operation.to) =
        use(step.blocks, spot, step.offset, step.bytes, !sends);
  }
  end_operation();
}

void ProgramBuilder::add_wait(const Step& step) {
  Operation& wait = append(OperationKind::wait, step.runner);
  if (step.first == step.last) return;
  wait.first = first_operation_[index(step.first)];
  wait.last = first_operation_[index(step.last)];
  completed_.resize(index(count()));
  const bool continues = wait.first <= all_completed_;
  for (int i = continues ? all_completed_ : wait.first; i < wait.last; ++i) complete(i);
  if (continues) all_completed_ = std::max(all_completed_, wait.last);
  memory_.recycle(completed_);
}

/// Marks an operation and all that it needs as completed.
void ProgramBuilder::complete(int operation) {
  std::vector<int> pending = {operation};
  while (!pending.empty()) {
    const int next = pending.back();
    pending.pop_back();
    if (std::exchange(completed_[index(next)], char{1}) != 0) continue;
    const Operation& done = program_.operations[index(next)];
    pending.insert(pending.end(), program_.needs.begin() + done.first_need,
                   program_.needs.begin() + done.last_need);
  }
}

}  // namespace tutti
