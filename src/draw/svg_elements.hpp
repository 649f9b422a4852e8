/// The SVG elements of the drawings.
#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// `text` with the five characters that XML reserves replaced.
[[nodiscard]] std::string xml_escaped(std::string_view text);

/// A coordinate, rounded to 0.1 pixels.
[[nodiscard]] std::string svg_number(double value);

/// A text element; `style` holds its attributes, such as a class of svg_opening.
[[nodiscard]] std::string svg_text(double x, double y, std::string_view style,
                                   std::string_view text);

/// The opening tag with the shared styles (title, note, tick, bytes, name, on, rank, root) and a
/// white background.
[[nodiscard]] std::string svg_opening(double width, double height);

/// A colour from a scale of equal steps of lightness, `position` in 0..1: 0 is the lightest.
[[nodiscard]] std::string scale_colour(double position);

}  // namespace tutti
