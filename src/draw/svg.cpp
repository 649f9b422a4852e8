/// Layout once, then plain SVG elements.
#include "draw/svg.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "draw/messages.hpp"
#include "draw/transfer_tree.hpp"

namespace tutti {

namespace {

constexpr double column = 132;
constexpr double row = 38;
constexpr double radius = 14;
constexpr double margin = 28;
constexpr double header = 62;  // title and legend

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

/// Where each rank of a tree stands: a column for each hop, a row for each leaf.
struct Layout {
  std::vector<double> x, y;
  double width = 0, height = 0;

  explicit Layout(const TransferTree& tree)
      : x(tree.children.size(), 0), y(tree.children.size(), 0) {
    double next = header + row / 2;
    const auto place = [&](const auto& self, Rank rank, int depth) -> void {
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
    place(place, tree.root, 0);
    height = next;
  }
};

std::string text_at(double x, double y, std::string_view style, std::string_view text) {
  return "<text x='" + number(x) + "' y='" + number(y) + "' " + std::string(style) + ">" +
         xml_escaped(text) + "</text>\n";
}

/// An edge that leaves and arrives level, with its bytes on a white ground near the child.
std::string edge(double x1, double y1, double x2, double y2, double thickness,
                 const std::string& colour, Bytes bytes) {
  const double middle = (x1 + x2) / 2;
  const std::string label = std::to_string(bytes);
  const double half = 4.0 + 3.6 * static_cast<double>(label.size());
  const double label_x = x2 - radius - half - 6;
  return "<path d='M" + number(x1) + " " + number(y1) + " C" + number(middle - 12) + " " +
         number(y1) + " " + number(middle - 22) + " " + number(y2) + " " + number(middle) + " " +
         number(y2) + " L" + number(x2) + " " + number(y2) + "' fill='none' stroke='" + colour +
         "' stroke-width='" + number(thickness) + "'/>\n<rect x='" + number(label_x - half) +
         "' y='" + number(y2 - 9) + "' width='" + number(2 * half) +
         "' height='18' rx='4' fill='white'/>\n" + text_at(label_x, y2 + 4, "class='bytes'", label);
}

std::string disc(double x, double y, bool root, Rank rank) {
  return "<circle cx='" + number(x) + "' cy='" + number(y) + "' r='" + number(radius) +
         "' class='" + (root ? "root" : "rank") + "'/>\n" +
         text_at(x, y + 4.5, root ? "class='name on'" : "class='name'", std::to_string(rank));
}

std::string legend(int rounds) {
  std::string text = text_at(margin, 48, "class='note'", "round");
  double x = margin + 40;
  const int shown = std::min(rounds, 12);
  for (int i = 0; i < shown; ++i, x += 26) {
    // With more rounds than fit, the legend shows evenly spaced ones.
    const int round = shown == rounds
                          ? i + 1
                          : 1 + static_cast<int>(std::lround(i * (rounds - 1.0) / (shown - 1)));
    const double position = rounds > 1 ? (round - 1.0) / (rounds - 1) : 1;
    text += "<rect x='" + number(x) + "' y='37' width='24' height='14' rx='3' fill='" +
            scale_colour(position) + "'/>\n" +
            text_at(x + 12, 48, position > 0.45 ? "class='tick on'" : "class='tick'",
                    std::to_string(round));
  }
  return text + text_at(x + 8, 48, "class='note'", "bytes on the edges");
}

std::string idle_note(const std::vector<Rank>& idle) {
  std::string text = "no data from or for ranks";
  for (std::size_t i = 0; i < idle.size() && i < 16; ++i) text += " " + std::to_string(idle[i]);
  return idle.size() > 16 ? text + " and " + std::to_string(idle.size() - 16) + " more" : text;
}

std::string opening(double width, double height) {
  return "<svg xmlns='http://www.w3.org/2000/svg' width='" + number(width) + "' height='" +
         number(height) + "' viewBox='0 0 " + number(width) + " " + number(height) +
         "'>\n"
         "<style>text{font-family:Helvetica,Arial,sans-serif;fill:#1f2933}"
         ".title{font-size:15px;font-weight:bold}.note{font-size:11px;fill:#616e7c}"
         ".tick,.bytes{font-size:11px;text-anchor:middle}"
         ".name{font-size:12px;font-weight:bold;text-anchor:middle}.on{fill:white}"
         ".rank{fill:#e8eef4;stroke:#52606d;stroke-width:1.2}.root{fill:#1f2933}</style>\n"
         "<rect width='100%' height='100%' fill='white'/>\n";
}

/// The last round of each edge, at its child.
std::vector<int> rounds_above(const std::vector<Message>& messages, bool gather, std::size_t p) {
  std::vector<int> rounds(p, 0);
  for (const Message& message : messages) {
    int& round = rounds[static_cast<std::size_t>(gather ? message.from : message.to)];
    if (message.bytes > 0) round = std::max(round, message.round);
  }
  return rounds;
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '\'':
        escaped += "&apos;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string scale_colour(double position) {
  // From a light to a dark blue-green; each channel falls evenly.
  const auto channel = [&](double from, double to) {
    return static_cast<int>(std::lround(from + (to - from) * std::clamp(position, 0.0, 1.0)));
  };
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", channel(0xa8, 0x08) & 0xff,
                channel(0xd8, 0x3d) & 0xff, channel(0xd2, 0x77) & 0xff);
  return text;
}

Result<std::string> tree_to_svg(std::span<const Schedule> schedules, std::string_view title) {
  if (schedules.empty()) return Error{"no schedules: there is nothing to draw"};
  const Result<std::vector<Message>> all = messages(schedules);
  if (!all) return Error{all.error()};
  const TransferTree tree = transfer_tree(schedules);
  const Layout layout(tree);
  const std::vector<Bytes> bytes = tree.bytes_above();
  const std::vector<int> rounds =
      rounds_above(*all, is_gather(schedules.front().collective), schedules.size());
  const int last = *std::max_element(rounds.begin(), rounds.end());
  const double most = static_cast<double>(*std::max_element(bytes.begin(), bytes.end()));
  const std::vector<Rank> idle = tree.idle();

  std::string edges, discs;
  const auto draw = [&](const auto& self, Rank rank) -> void {
    const auto at = static_cast<std::size_t>(rank);
    for (const auto& [child, size] : tree.children[at]) {
      const auto to = static_cast<std::size_t>(child);
      const double position = last > 1 ? (rounds[to] - 1.0) / (last - 1) : 1;
      const double thickness = 1.2 + 5 * std::sqrt(static_cast<double>(size) / most);
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
  std::string svg = opening(width, height) + text_at(margin, 26, "class='title'", title) +
                    legend(last) + edges + discs;
  if (!idle.empty()) svg += text_at(margin, height - 14, "class='note'", idle_note(idle));
  return svg + "</svg>\n";
}

}  // namespace tutti
