/// Rules as JSON.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <type_traits>

#include "core/json.hpp"
#include "core/numbers.hpp"
#include "core/words.hpp"
#include "select/rules.hpp"

namespace tutti {

namespace {

constexpr std::string_view expected_range =
    "expected a number or a range such as 8, 1K..64K or 1M..inf";

constexpr std::array<std::string_view, 4> file_fields = {"schema", "date", "command", "rules"};
constexpr std::array<std::string_view, 6> mpi_names = {"openmpi", "mpich", "intel",
                                                       "mvapich", "cray",  "other"};

// Calls visit(name, field) for each field, in the sequence in which they are written.

template <class Times, class Visit>
requires std::is_base_of_v<RuleTimes, Times>
void for_each_time(Times& times, Visit visit) {
  visit("native_us", times.native_us);
  visit("native_interval_us", times.native_interval_us);
  visit("choice_us", times.choice_us);
  visit("choice_interval_us", times.choice_interval_us);
}

template <class Times, class Visit>
requires std::is_same_v<std::remove_const_t<Times>, SizedRuleTimes>
void for_each_field(Times& times, Visit visit) {
  visit("bytes", times.bytes);
  for_each_time(times, visit);
}

template <class Evidence, class Visit>
requires std::is_same_v<std::remove_const_t<Evidence>, RuleEvidence>
void for_each_field(Evidence& evidence, Visit visit) {
  for_each_time(evidence, visit);
  visit("sizes", evidence.sizes);
  visit("calls", evidence.calls);
  visit("date", evidence.date);
  visit("command", evidence.command);
  visit("source", evidence.source);
}

template <class OneRule, class Visit>
requires std::is_same_v<std::remove_const_t<OneRule>, Rule>
void for_each_field(OneRule& rule, Visit visit) {
  visit("collective", rule.collective);
  visit("p", rule.p);
  visit("nodes", rule.nodes);
  visit("ranks_per_node", rule.ranks_per_node);
  visit("bytes", rule.bytes);
  visit("irregularity", rule.irregularity);
  visit("commutative", rule.commutative);
  visit("mpi", rule.mpi);
  visit("version", rule.version);
  visit("network", rule.network);
  visit("use", rule.use);
  visit("evidence", rule.evidence);
}

bool read_bound(std::string_view text, std::int64_t& value) {
  if (text == "inf") {
    value = NumberRange::inf;
    return true;
  }
  const Result<Bytes> read = bytes_from(text);
  if (read) value = *read;
  return static_cast<bool>(read);
}

/// The number with the largest unit that divides it.
std::string number_text(std::int64_t value) {
  if (value == NumberRange::inf) return "inf";
  constexpr std::string_view units = "KMG";
  std::size_t unit = 0;
  while (value != 0 && value % 1024 == 0 && unit < units.size()) {
    value /= 1024;
    ++unit;
  }
  return std::to_string(value) + (unit == 0 ? "" : std::string(1, units[unit - 1]));
}

/// Reads one file front to back.
class RulesReader {
 public:
  RulesReader(std::string_view text, const std::string& source) : json_(text), source_(source) {}

  Result<Rules> read() {
    std::string schema;
    const auto member = [&](const std::string& key) {
      if (key == "schema") return json_.string(schema) && check_schema(schema);
      if (key == "date") return json_.string(date_);
      if (key == "command") return json_.string(command_);
      if (key == "rules") return json_.array([this] { return rule(); });
      return ignore(key, file_fields);
    };
    const bool is_whole = json_.object(member) && json_.end();
    if (!is_whole) return Error{json_.error()};
    if (schema.empty()) {
      return Error{"the file names no schema; expected \"schema\": \"" + std::string(rules_schema) +
                   "\""};
    }
    for (Rule& rule : rules_.all) {
      if (rule.evidence.date.empty()) rule.evidence.date = date_;
      if (rule.evidence.command.empty()) rule.evidence.command = command_;
      if (rule.evidence.source.empty()) rule.evidence.source = source_;
    }
    return rules_;
  }

 private:
  bool check_schema(const std::string& schema) {
    return schema == rules_schema ||
           json_.refuse("unknown schema \"" + schema + "\"; expected " + std::string(rules_schema));
  }

  /// Skips the value of a field that is not known.
  bool ignore(const std::string& key, std::span<const std::string_view> known) {
    rules_.remarks.push_back("line " + std::to_string(json_.line()) + ": unknown field \"" + key +
                             "\" is ignored" + did_you_mean(key, known));
    return json_.skip();
  }

  /// Reads the field of an object that has this name.
  template <class Object>
  bool member(const std::string& key, Object& object) {
    std::vector<std::string_view> names;
    std::optional<bool> is_read;
    for_each_field(object, [&](std::string_view name, auto& field) {
      names.push_back(name);
      if (name == key) is_read = value(name, field);
    });
    return is_read ? *is_read : ignore(key, names);
  }

  bool value(std::string_view, RuleEvidence& evidence) {
    return json_.object([&](const std::string& key) { return member(key, evidence); });
  }

  bool value(std::string_view name, NumberRange& range) {
    if (!json_.at_string()) {
      long number = 0;
      if (!json_.integer(number, 0, 1L << 53)) return false;
      range = {number, number};
      return true;
    }
    std::string text;
    if (!json_.string(text)) return false;
    const Result<NumberRange> read = number_range(text);
    if (!read) {
      return json_.refuse(std::string(name) + " " + json_string(text) + ": " + read.error());
    }
    range = *read;
    return true;
  }

  bool value(std::string_view, Collective& collective) {
    has_collective_ = true;
    std::string name;
    if (!json_.string(name)) return false;
    const auto found = collective_named(name);
    if (found && !is_one_sided(*found)) {
      collective = *found;
      return true;
    }
    std::vector<std::string_view> names;
    for (const Collective known : matched_collectives) names.push_back(name_of(known));
    return json_.refuse("unknown collective " + json_string(name) +
                        valid_names(name, names, "collectives"));
  }

  bool value(std::string_view name, std::string& text) {
    if (!json_.string(text)) return false;
    return name != "mpi" || std::ranges::find(mpi_names, text) != mpi_names.end() ||
           json_.refuse("unknown mpi " + json_string(text) + valid_names(text, mpi_names, "names"));
  }

  bool value(std::string_view name, std::optional<RuleInterval>& interval) {
    std::vector<double> ends;
    if (!json_.array([&] { return json_.number(ends.emplace_back()); })) return false;
    if (ends.size() != 2 || ends[0] < 0 || ends[0] > ends[1]) {
      return json_.refuse(std::string(name) + ": expected 2 times in microseconds, ascending");
    }
    interval = RuleInterval{ends[0], ends[1]};
    return true;
  }

  bool value(std::string_view name, std::vector<SizedRuleTimes>& sizes) {
    const auto size = [&] {
      SizedRuleTimes& one = sizes.emplace_back();
      return json_.object([&](const std::string& key) { return member(key, one); });
    };
    if (!json_.array(size)) return false;
    const auto descends = [](Bytes bytes, Bytes next) { return bytes >= next; };
    return std::ranges::adjacent_find(sizes, descends, &SizedRuleTimes::bytes) == sizes.end() ||
           json_.refuse(std::string(name) + ": expected ascending bytes");
  }

  bool value(std::string_view, Bytes& bytes) {
    long number = 0;
    if (!json_.integer(number, 0, 1L << 53)) return false;
    bytes = number;
    return true;
  }

  bool value(std::string_view, std::optional<long>& calls) {
    return json_.integer(calls.emplace(), 0, 1L << 53);
  }

  bool value(std::string_view, std::optional<double>& time) {
    return json_.number(time.emplace()) &&
           (*time >= 0 || json_.refuse("a time in microseconds is not negative"));
  }

  bool value(std::string_view, std::optional<bool>& truth) {
    return json_.boolean(truth.emplace());
  }

  /// Its collective may come later.
  bool value(std::string_view, Setting&) {
    line_of_use_ = json_.line();
    return json_.string(use_);
  }

  bool rule() {
    Rule rule;
    has_collective_ = false;
    line_of_use_ = 0;
    if (!json_.object([&](const std::string& key) { return member(key, rule); })) return false;
    if (!has_collective_) return json_.refuse("this rule has no collective");
    if (line_of_use_ == 0) {
      return json_.refuse("this rule has no use; expected native or an algorithm as in tutti list");
    }
    const Result<Setting> read = setting(rule.collective, use_);
    if (!read)
      return json_.refuse_at(line_of_use_, "use " + json_string(use_) + ": " + read.error());
    if (read->kind == Setting::Kind::automatic || !read->level) {
      return json_.refuse_at(line_of_use_, "use " + json_string(use_) +
                                               ": a rule selects native or an algorithm, not auto");
    }
    rule.use = *read;
    rules_.all.push_back(std::move(rule));
    return true;
  }

  JsonReader json_;
  const std::string& source_;
  Rules rules_;
  std::string date_;
  std::string command_;
  std::string use_;
  int line_of_use_ = 0;
  bool has_collective_ = false;
};

// The value of a field as JSON; null if it says nothing.

Json json_of(Collective collective) { return name_of(collective); }
Json json_of(const Setting& use) { return to_text(use); }
Json json_of(const std::string& text) { return text.empty() ? Json() : text; }
Json json_of(const NumberRange& range) { return range.is_all() ? Json() : to_text(range); }
Json json_of(Bytes bytes) { return bytes; }
Json json_of(const std::optional<RuleInterval>& interval) {
  return interval ? json_list(std::array{interval->least, interval->most}) : Json();
}
Json json_of(const std::vector<SizedRuleTimes>& sizes);
template <class Value>
Json json_of(const std::optional<Value>& value) {
  return value;
}
template <class Object>
Json json_of(const Object& object) {
  Json json = json_object();
  for_each_field(object, [&json](std::string_view name, const auto& field) {
    const Json value = json_of(field);
    if (!value.is_null()) add_members(json, name, value);
  });
  return json;
}
Json json_of(const std::vector<SizedRuleTimes>& sizes) {
  const auto show = [](const SizedRuleTimes& one) { return json_of(one); };
  return sizes.empty() ? Json() : json_list(sizes, show);
}

}  // namespace

Result<NumberRange> number_range(std::string_view text) {
  const std::size_t dots = text.find("..");
  const std::string_view most = dots == std::string_view::npos ? text : text.substr(dots + 2);
  NumberRange range;
  const bool is_read =
      read_bound(text.substr(0, dots), range.least) && read_bound(most, range.most);
  // to_text would write inf..inf as inf, which is no number.
  if (!is_read || range.least == NumberRange::inf) return Error{std::string(expected_range)};
  if (range.least > range.most) {
    return Error{"the range is empty; " + std::string(expected_range)};
  }
  return range;
}

std::string to_text(const NumberRange& range) {
  if (range.least == range.most) return number_text(range.least);
  return number_text(range.least) + ".." + number_text(range.most);
}

Result<Rules> rules_from_text(std::string_view text, const std::string& source) {
  return RulesReader(text, source).read();
}

std::string to_text(const Rules& rules) {
  std::string text = "{\"schema\":" + json_string(rules_schema) + ",\n \"rules\":[";
  const char* separator = "\n  ";
  for (const Rule& rule : rules.all) {
    text += separator + json_of(rule).text;
    separator = ",\n  ";
  }
  return text + "\n ]}\n";
}

}  // namespace tutti
