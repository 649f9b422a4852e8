/// Writes programs as text.
#include <array>

#include "lowering/program.hpp"

namespace tutti {

namespace {

std::string range(Bytes begin, Bytes end) {
  return "[" + std::to_string(begin) + "," + std::to_string(end) + ")";
}

std::string in_words(const BufferRef& ref) {
  std::string text = std::string(name_of(ref.area)) + " ";
  if (!ref.blocks.range.empty()) {
    text += "blocks " + range(ref.blocks.range.begin, ref.blocks.range.end) + " ";
  }
  return text + range(ref.offset, ref.offset + ref.bytes);
}

std::string in_words(const InnerBuffer& buffer) {
  std::string text = std::string(name_of(buffer.area)) + " from " + std::to_string(buffer.at);
  text += ": bytes";
  for (const Bytes count : buffer.counts) text += " " + std::to_string(count);
  return text;
}

std::string in_words(const InnerCall& call) {
  std::string text = std::string(name_of(call.collective)) + " on lane ";
  text += std::to_string(call.lane);
  if (has_root(call.collective)) text += " root " + std::to_string(call.root);
  if (!call.send.counts.empty()) text += ", sends " + in_words(call.send);
  if (!call.receive.counts.empty()) text += ", receives " + in_words(call.receive);
  return text;
}

std::string in_words(const Program& program, const Operation& operation) {
  switch (operation.kind) {
    case OperationKind::send:
      return in_words(operation.from) + " to rank " + std::to_string(operation.peer);
    case OperationKind::recv:
      return in_words(operation.to) + " from rank " + std::to_string(operation.peer);
    case OperationKind::put:
      return in_words(operation.from) + " to " + in_words(operation.to) + " of rank " +
             std::to_string(operation.peer);
    case OperationKind::flush:
      return "of rank " + std::to_string(operation.peer);
    case OperationKind::copy:
    case OperationKind::reduce:
      return in_words(operation.from) + " to " + in_words(operation.to);
    case OperationKind::wait:
      return "operations " + range(operation.first, operation.last);
    case OperationKind::signal:
      return std::to_string(operation.sequence);
    case OperationKind::await:
      return std::to_string(operation.sequence) + " of local ranks " +
             range(operation.first, operation.last);
    case OperationKind::call:
      break;
  }
  return in_words(program.calls[index(operation.call)]);
}

}  // namespace

std::string_view name_of(OperationKind kind) {
  constexpr std::array<std::string_view, 10> names = {"send",   "recv", "put",    "flush", "copy",
                                                      "reduce", "wait", "signal", "await", "call"};
  return names[static_cast<std::size_t>(kind)];
}

const char* name_of(Area area) {
  constexpr std::array<const char*, 5> names = {"the send buffer", "the receive buffer",
                                                "staging memory", "the window", "node memory"};
  return names[static_cast<std::size_t>(area)];
}

std::string to_text(const Program& program) {
  std::string text;
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const Operation& operation = program.operations[i];
    text += std::to_string(i) + " " + std::string(name_of(operation.kind)) + " " +
            in_words(program, operation) + "\n";
  }
  return text;
}

}  // namespace tutti
