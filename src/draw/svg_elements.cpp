/// The SVG elements of the drawings.
#include "draw/svg_elements.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tutti {

std::string svg_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

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

std::string svg_text(double x, double y, std::string_view style, std::string_view text) {
  return "<text x='" + svg_number(x) + "' y='" + svg_number(y) + "' " + std::string(style) + ">" +
         xml_escaped(text) + "</text>\n";
}

std::string svg_opening(double width, double height) {
  return "<svg xmlns='http://www.w3.org/2000/svg' width='" + svg_number(width) + "' height='" +
         svg_number(height) + "' viewBox='0 0 " + svg_number(width) + " " + svg_number(height) +
         "'>\n"
         "<style>text{font-family:Helvetica,Arial,sans-serif;fill:#1f2933}"
         ".title{font-size:15px;font-weight:bold}.note{font-size:11px;fill:#616e7c}"
         ".tick,.bytes{font-size:11px;text-anchor:middle}"
         ".name{font-size:12px;font-weight:bold;text-anchor:middle}.on{fill:white}"
         ".rank{fill:#e8eef4;stroke:#52606d;stroke-width:1.2}.root{fill:#1f2933}</style>\n"
         "<rect width='100%' height='100%' fill='white'/>\n";
}

std::string scale_colour(double position) {
  // From a light to a dark blue-green; each channel decreases evenly.
  const auto channel = [&](double from, double to) {
    return static_cast<int>(std::lround(from + (to - from) * std::clamp(position, 0.0, 1.0)));
  };
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", channel(0xa8, 0x08) & 0xff,
                channel(0xd8, 0x3d) & 0xff, channel(0xd2, 0x77) & 0xff);
  return text;
}

}  // namespace tutti
