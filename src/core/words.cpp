/// Lists, comparisons without case, and edit distances.
#include "core/words.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tutti {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto same = [&](std::size_t i, std::size_t j) { return lower(a[i]) == lower(b[j]); };
  // Distances of the prefixes of b to one of a, and to those that are 1 and 2 letters shorter.
  std::vector<std::size_t> row(b.size() + 1), above, above_that;
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    above_that = std::exchange(above, row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({above[j] + (same(i, j) ? 0 : 1), row[j] + 1, above[j + 1] + 1});
      const bool swapped = i > 0 && j > 0 && same(i, j - 1) && same(i - 1, j);
      if (swapped) row[j + 1] = std::min(row[j + 1], above_that[j - 1] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size(); begin += parts.back().size() + 1) {
    const std::string_view rest = text.substr(begin);
    parts.push_back(rest.substr(0, rest.find_first_of(separators)));
  }
  return parts;
}

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string_view nearest(std::string_view given, std::span<const std::string_view> known) {
  std::string_view found;
  std::size_t best = given.size() + 1;
  for (const std::string_view name : known) {
    const std::size_t distance = edit_distance(given, name);
    if (distance >= best || 3 * distance > std::max(given.size(), name.size())) continue;
    best = distance;
    found = name;
  }
  return found;
}

std::string did_you_mean(std::string_view given, std::span<const std::string_view> known) {
  const std::string_view found = nearest(given, known);
  return found.empty() ? "" : "; did you mean " + std::string(found) + "?";
}

std::string valid_names(std::string_view given, std::span<const std::string_view> known,
                        std::string_view kind) {
  std::string names = "valid " + std::string(kind) + ": ";
  for (const std::string_view name : known) {
    names += (name == known.front() ? "" : ", ") + std::string(name);
  }
  const std::string meant = did_you_mean(given, known);
  return meant.empty() ? "; " + names : meant + " (" + names + ")";
}

}  // namespace tutti
