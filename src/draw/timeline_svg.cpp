/// Draws timelines as SVG and writes them as JSON.
#include "draw/timeline_svg.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "draw/svg_elements.hpp"

namespace tutti {

namespace {

constexpr double left = 64;
constexpr double right = 30;
constexpr double top = 52;
constexpr double bottom = 46;
constexpr double plot_width = 760;
constexpr double min_row = 6;
constexpr double max_row = 26;

std::string shortest(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// The distance of ticks: 1, 2 or 5 times a power of ten that divides `span` into 4 to 10 parts.
double tick_step(double span) {
  const double power = std::pow(10, std::floor(std::log10(span / 4)));
  for (const double factor : {5.0, 2.0}) {
    if (span / (factor * power) >= 4) return factor * power;
  }
  return power;
}

/// Maps ranks and times to coordinates.
struct Frame {
  double first;  ///< time at the left edge
  double span;
  double row;

  Frame(const Timeline& timeline)
      : first(*std::min_element(timeline.arrivals.begin(), timeline.arrivals.end())),
        span(*std::max_element(timeline.exits.begin(), timeline.exits.end()) - first),
        row(std::clamp(900 / static_cast<double>(timeline.exits.size()), min_row, max_row)) {
    if (span <= 0) span = 1;
  }
  double x(double time) const { return left + (time - first) / span * plot_width; }
  double y(Rank rank) const { return top + row * rank; }
};

std::string bar(double x1, double x2, double y, double height, std::string_view style) {
  return "<rect x='" + svg_number(x1) + "' y='" + svg_number(y) + "' width='" +
         svg_number(std::max(x2 - x1, 0.6)) + "' height='" + svg_number(height) + "' " +
         std::string(style) + "/>\n";
}

std::string ground(const Frame& frame, const Timeline& timeline) {
  std::string text;
  const auto p = static_cast<Rank>(timeline.exits.size());
  const int every = std::max(1, static_cast<int>(std::ceil(13 / frame.row)));
  for (Rank rank = 0; rank < p; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    text += bar(frame.x(timeline.arrivals[at]), frame.x(timeline.exits[at]),
                frame.y(rank) + frame.row * 0.08, frame.row * 0.84, "fill='#edf1f5'");
    if (rank % every == 0) {
      text += svg_text(left - 10, frame.y(rank) + frame.row / 2 + 4, "class='note side'",
                       std::to_string(rank));
    }
  }
  return text;
}

std::string transfers(const Frame& frame, const Timeline& timeline) {
  std::string bars, lines;
  for (const Timeline::Transfer& transfer : timeline.transfers) {
    const double x1 = frame.x(transfer.start), x2 = frame.x(transfer.end);
    const double height = frame.row * 0.42;
    bars += bar(x1, x2, frame.y(transfer.from) + frame.row * 0.08, height, "fill='#e0803a'");
    bars += bar(x1, x2, frame.y(transfer.to) + frame.row * 0.5, height, "fill='#1f6f94'");
    lines += "<line x1='" + svg_number(x1) + "' y1='" +
             svg_number(frame.y(transfer.from) + frame.row * 0.29) + "' x2='" + svg_number(x2) +
             "' y2='" + svg_number(frame.y(transfer.to) + frame.row * 0.71) + "'/>\n";
  }
  return bars + "<g stroke='#52606d' stroke-width='0.8' stroke-opacity='0.55'>\n" + lines +
         "</g>\n";
}

std::string axis(const Frame& frame, double base, double scale, std::string_view unit) {
  std::string text = "<line x1='" + svg_number(left) + "' y1='" + svg_number(base) + "' x2='" +
                     svg_number(left + plot_width) + "' y2='" + svg_number(base) +
                     "' stroke='#9aa5b1'/>\n";
  const double step = tick_step(frame.span * scale);
  for (int i = 0; i * step <= frame.span * scale * 1.0001; ++i) {
    const double x = frame.x(frame.first + i * step / scale);
    text += "<line x1='" + svg_number(x) + "' y1='" + svg_number(base) + "' x2='" + svg_number(x) +
            "' y2='" + svg_number(base + 4) + "' stroke='#9aa5b1'/>\n" +
            svg_text(x, base + 17, "class='tick'", rounded(i * step));
  }
  return text + svg_text(left, base + 36, "class='note'",
                         "time in " + std::string(unit) +
                             "; orange: sends, blue: receives, grey: from arrival to exit");
}

std::string numbers(const std::vector<double>& values) {
  std::string text = "[";
  for (const double value : values) text += shortest(value) + ",";
  if (!values.empty()) text.pop_back();
  return text + "]";
}

}  // namespace

std::string timeline_to_svg(const Timeline& timeline, std::string_view title, double scale,
                            std::string_view unit) {
  if (timeline.exits.empty()) return svg_opening(left, top) + "</svg>\n";
  const Frame frame(timeline);
  const double base = frame.y(static_cast<Rank>(timeline.exits.size())) + 4;
  return svg_opening(left + plot_width + right, base + bottom) +
         "<style>.side{text-anchor:end}</style>\n" + svg_text(left, 26, "class='title'", title) +
         svg_text(left - 10, 43, "class='note side'", "rank") + ground(frame, timeline) +
         transfers(frame, timeline) + axis(frame, base, scale, unit) + "</svg>\n";
}

std::string timeline_to_json(const Timeline& timeline) {
  std::string text = "{\"arrivals\":" + numbers(timeline.arrivals) +
                     ",\"exits\":" + numbers(timeline.exits) +
                     ",\"busy\":" + numbers(timeline.busy) + ",\"transfers\":[";
  for (const Timeline::Transfer& transfer : timeline.transfers) {
    text += "\n{\"from\":" + std::to_string(transfer.from) +
            ",\"to\":" + std::to_string(transfer.to) +
            ",\"bytes\":" + std::to_string(transfer.bytes) +
            ",\"start\":" + shortest(transfer.start) + ",\"end\":" + shortest(transfer.end) + "},";
  }
  if (!timeline.transfers.empty()) text.pop_back();
  return text + "]}\n";
}

}  // namespace tutti
