/// Draws trees of transfers as SVG.
#include "draw/tree_svg.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "draw/messages.hpp"
#include "draw/svg_elements.hpp"
#include "draw/transfer_tree.hpp"

namespace tutti {

namespace {

constexpr double column = 132;
constexpr double row = 38;
constexpr double radius = 14;
constexpr double margin = 28;
constexpr double header = 62;  // title and legend

/// The coordinates of the ranks of a tree: a column per hop, a row per leaf.
struct Layout {
  std::vector<double> x, y;
  double width = 0, height = 0;

  explicit Layout(const TransferTree& tree)
      : x(tree.children.size(), 0), y(tree.children.size(), 0) {
    double next = header + row / 2;
    const auto lay_out = [&](const auto& self, Rank rank, int depth) -> void {
      const auto at = static_cast<std::size_t>(rank);
      x[at] = margin + radius + depth * column;
      width = std::max(width, x[at] + radius + margin);
      const auto& edges = tree.children[at];
      for (const auto& edge : edges) self(self, edge.child, depth + 1);
      y[at] = edges.empty() ? next
                            : (y[static_cast<std::size_t>(edges.front().child)] +
                               y[static_cast<std::size_t>(edges.back().child)]) /
                                  2;
      if (edges.empty()) next += row;
    };
    lay_out(lay_out, tree.root, 0);
    height = next;
  }
};

/// An edge with horizontal ends, and its bytes on a white background near the child.
std::string edge(double x1, double y1, double x2, double y2, double thickness,
                 const std::string& colour, Bytes bytes) {
  const double middle = (x1 + x2) / 2;
  const std::string label = std::to_string(bytes);
  const double half = 4.0 + 3.6 * static_cast<double>(label.size());
  const double label_x = x2 - radius - half - 6;
  return "<path d='M" + svg_number(x1) + " " + svg_number(y1) + " C" + svg_number(middle - 12) +
         " " + svg_number(y1) + " " + svg_number(middle - 22) + " " + svg_number(y2) + " " +
         svg_number(middle) + " " + svg_number(y2) + " L" + svg_number(x2) + " " + svg_number(y2) +
         "' fill='none' stroke='" + colour + "' stroke-width='" + svg_number(thickness) +
         "'/>\n<rect x='" + svg_number(label_x - half) + "' y='" + svg_number(y2 - 9) +
         "' width='" + svg_number(2 * half) + "' height='18' rx='4' fill='white'/>\n" +
         svg_text(label_x, y2 + 4, "class='bytes'", label);
}

std::string disc(double x, double y, bool root, Rank rank) {
  return "<circle cx='" + svg_number(x) + "' cy='" + svg_number(y) + "' r='" + svg_number(radius) +
         "' class='" + (root ? "root" : "rank") + "'/>\n" +
         svg_text(x, y + 4.5, root ? "class='name on'" : "class='name'", std::to_string(rank));
}

std::string legend(int rounds) {
  std::string text = svg_text(margin, 48, "class='note'", "round");
  double x = margin + 40;
  const int shown = std::min(rounds, 12);
  for (int i = 0; i < shown; ++i, x += 26) {
    // If there are more rounds than fit, the legend shows evenly spaced ones.
    const int round = shown == rounds
                          ? i + 1
                          : 1 + static_cast<int>(std::lround(i * (rounds - 1.0) / (shown - 1)));
    const double position = rounds > 1 ? (round - 1.0) / (rounds - 1) : 1;
    text += "<rect x='" + svg_number(x) + "' y='37' width='24' height='14' rx='3' fill='" +
            scale_colour(position) + "'/>\n" +
            svg_text(x + 12, 48, position > 0.45 ? "class='tick on'" : "class='tick'",
                     std::to_string(round));
  }
  return text + svg_text(x + 8, 48, "class='note'", "bytes on the edges");
}

std::string idle_note(const std::vector<Rank>& idle) {
  std::string text = "no data from or for ranks";
  for (std::size_t i = 0; i < idle.size() && i < 16; ++i) text += " " + std::to_string(idle[i]);
  return idle.size() > 16 ? text + " and " + std::to_string(idle.size() - 16) + " more" : text;
}

/// By child, the last round of its edge.
std::vector<int> rounds_above(const std::vector<Message>& messages, bool gather, std::size_t p) {
  std::vector<int> rounds(p, 0);
  for (const Message& message : messages) {
    int& round = rounds[static_cast<std::size_t>(gather ? message.from : message.to)];
    if (message.bytes > 0) round = std::max(round, message.round);
  }
  return rounds;
}

}  // namespace

Result<std::string> tree_to_svg(std::span<const Schedule> schedules, std::string_view title) {
  if (schedules.empty()) return Error{"no schedules to draw"};
  const Result<std::vector<Message>> all = messages(schedules);
  if (!all) return Error{all.error()};
  const TransferTree tree = transfer_tree(schedules);
  if (!tree.is_tree()) {
    return Error{"the data of this " + std::string(name_of(schedules.front().collective)) +
                 " does not flow along a tree; draw its timeline instead"};
  }
  const Layout layout(tree);
  const std::vector<Bytes> bytes = tree.bytes_above();
  const std::vector<int> rounds =
      rounds_above(*all, flows_to_root(schedules.front().collective), schedules.size());
  const int last = *std::max_element(rounds.begin(), rounds.end());
  const double max_bytes = static_cast<double>(*std::max_element(bytes.begin(), bytes.end()));
  const std::vector<Rank> idle = tree.idle();

  std::string edges, discs;
  const auto draw = [&](const auto& self, Rank rank) -> void {
    const auto at = static_cast<std::size_t>(rank);
    for (const auto& [child, size] : tree.children[at]) {
      const auto to = static_cast<std::size_t>(child);
      const double position = last > 1 ? (rounds[to] - 1.0) / (last - 1) : 1;
      const double thickness = 1.2 + 5 * std::sqrt(static_cast<double>(size) / max_bytes);
      edges += edge(layout.x[at], layout.y[at], layout.x[to], layout.y[to], thickness,
                    scale_colour(position), size);
      self(self, child);
    }
    discs += disc(layout.x[at], layout.y[at], rank == tree.root, rank);
  };
  draw(draw, tree.root);
  const double title_width = 2 * margin + 8.2 * static_cast<double>(title.size());
  const double legend_width = 2 * margin + 170 + 26.0 * std::min(last, 12);
  const double width = std::max({layout.width, title_width, legend_width});
  const double height = layout.height + (idle.empty() ? 12 : 30);
  std::string svg = svg_opening(width, height) + svg_text(margin, 26, "class='title'", title) +
                    legend(last) + edges + discs;
  if (!idle.empty()) svg += svg_text(margin, height - 14, "class='note'", idle_note(idle));
  return svg + "</svg>\n";
}

}  // namespace tutti
