/// Draws trees as text.
#include "draw/picture.hpp"

#include <utility>

namespace tutti {

std::string to_text(const TreeShape& tree) {
  std::string text;
  // `indent` is the text to the left of a node's children on the lines after the node's own.
  const auto draw = [&](const auto& self, int node, std::string indent) -> void {
    const std::string label = tree.label(node);
    text += label;
    const std::vector<int> children = tree.children(node);
    if (children.empty()) {
      text += '\n';
      return;
    }
    indent.append(label.size() + 2, ' ');
    for (std::size_t i = 0; i < children.size(); ++i) {
      const bool last = i + 1 == children.size();
      if (i == 0) {
        text += last ? " --- " : " -+- ";
      } else {
        text += indent + "+- ";
      }
      self(self, children[i], indent + (last ? "   " : "|  "));
    }
  };
  draw(draw, tree.root, "");
  return text;
}

}  // namespace tutti
