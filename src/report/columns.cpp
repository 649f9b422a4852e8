/// Breaks text into lines.
#include "report/columns.hpp"

namespace tutti {

std::string wrapped(const std::string& text, std::size_t indent) {
  const std::size_t width = columns - indent;
  std::string lines;
  std::string line;
  const auto finish_line = [&] {
    lines += std::string(indent, ' ') + line + "\n";
    line.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    std::string word = text.substr(at, end - at);
    if (word.size() > width) word = word.substr(0, width - 3) + "...";
    if (!line.empty() && line.size() + 1 + word.size() > width) finish_line();
    line += (line.empty() ? "" : " ") + word;
    at = end + 1;
  }
  if (!line.empty()) finish_line();
  return lines;
}

}  // namespace tutti
