/// Rules as JSON.
#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "core/json.hpp"
#include "core/json_reader.hpp"
#include "core/nearest.hpp"
#include "select/rules.hpp"

namespace tutti {

namespace {

constexpr std::string_view expected_range =
    "expected a number or a range such as 8, 1K..64K or 1M..inf";

constexpr std::array<std::string_view, 4> file_fields = {"schema", "date", "command", "rules"};
constexpr std::array<std::string_view, 10> rule_fields = {
    "collective", "p",       "nodes", "ranks_per_node", "bytes", "commutative",
    "mpi",        "version", "use",   "evidence"};
constexpr std::array<std::string_view, 7> evidence_fields = {
    "native_us", "choice_us", "calls", "network", "date", "command", "source"};

bool read_number(std::string_view text, std::int64_t& value) {
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

  bool range(const char* field, NumberRange& range) {
    if (!json_.at_string()) {
      long number = 0;
      if (!json_.integer(number, 0, 1L << 53)) return false;
      range = {number, number};
      return true;
    }
    std::string text;
    if (!json_.string(text)) return false;
    const Result<NumberRange> read = number_range(text);
    if (!read)
      return json_.refuse(std::string(field) + " " + json_string(text) + ": " + read.error());
    range = *read;
    return true;
  }

  bool collective(Rule& rule) {
    std::string name;
    if (!json_.string(name)) return false;
    const auto found = collective_named(name);
    if (found && !is_one_sided(*found)) {
      rule.collective = *found;
      return true;
    }
    std::vector<std::string_view> names;
    std::string list;
    for (const Collective known : matched_collectives) {
      names.push_back(name_of(known));
      list += (list.empty() ? "" : ", ") + std::string(name_of(known));
    }
    return json_.refuse("collective " + json_string(name) + ": expected one of " + list +
                        did_you_mean(name, names));
  }

  bool mpi(Rule& rule) {
    constexpr std::array<std::string_view, 6> known = {"openmpi", "mpich", "intel",
                                                       "mvapich", "cray",  "other"};
    if (!json_.string(rule.mpi)) return false;
    return std::find(known.begin(), known.end(), rule.mpi) != known.end() ||
           json_.refuse("mpi " + json_string(rule.mpi) +
                        ": expected openmpi, mpich, intel, mvapich, cray or other" +
                        did_you_mean(rule.mpi, known));
  }

  bool calls(std::optional<long>& calls) {
    long read = 0;
    if (!json_.integer(read, 0, 1L << 53)) return false;
    calls = read;
    return true;
  }

  bool evidence(RuleEvidence& evidence) {
    const auto time = [this](std::optional<double>& value) {
      double read = 0;
      if (!json_.number(read)) return false;
      value = read;
      return read >= 0 || json_.refuse("a time in microseconds is not negative");
    };
    return json_.object([&](const std::string& key) {
      if (key == "native_us") return time(evidence.native_us);
      if (key == "choice_us") return time(evidence.choice_us);
      if (key == "calls") return calls(evidence.calls);
      if (key == "network") return json_.string(evidence.network);
      if (key == "date") return json_.string(evidence.date);
      if (key == "command") return json_.string(evidence.command);
      if (key == "source") return json_.string(evidence.source);
      return ignore(key, evidence_fields);
    });
  }

  bool member(const std::string& key, Rule& rule) {
    if (key == "collective") {
      has_collective_ = true;
      return collective(rule);
    }
    if (key == "p") return range("p", rule.p);
    if (key == "nodes") return range("nodes", rule.nodes);
    if (key == "ranks_per_node") return range("ranks_per_node", rule.ranks_per_node);
    if (key == "bytes") return range("bytes", rule.bytes);
    if (key == "mpi") return mpi(rule);
    if (key == "version") return json_.string(rule.version);
    if (key == "evidence") return evidence(rule.evidence);
    if (key == "commutative") {
      bool value = false;
      if (!json_.boolean(value)) return false;
      rule.commutative = value;
      return true;
    }
    if (key == "use") {
      line_of_use_ = json_.line();
      return json_.string(use_);
    }
    return ignore(key, rule_fields);
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

/// Members of an object that are left out if they say nothing.
class Members {
 public:
  void add(std::string_view key, const std::string& json) {
    text_ += (text_.empty() ? "" : ", ") + json_string(key) + ": " + json;
  }
  void add_range(std::string_view key, const NumberRange& range) {
    if (!range.is_all()) add(key, json_string(to_text(range)));
  }
  void add_text(std::string_view key, const std::string& text) {
    if (!text.empty()) add(key, json_string(text));
  }
  void add_number(std::string_view key, const std::optional<double>& number) {
    if (!number) return;
    char text[32];
    const auto written = std::to_chars(text, text + sizeof text, *number);
    add(key, std::string(text, written.ptr));
  }
  [[nodiscard]] std::string object() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

std::string to_json(const Rule& rule) {
  Members evidence;
  evidence.add_number("native_us", rule.evidence.native_us);
  evidence.add_number("choice_us", rule.evidence.choice_us);
  if (rule.evidence.calls) evidence.add("calls", std::to_string(*rule.evidence.calls));
  evidence.add_text("network", rule.evidence.network);
  evidence.add_text("date", rule.evidence.date);
  evidence.add_text("command", rule.evidence.command);
  evidence.add_text("source", rule.evidence.source);
  Members members;
  members.add_text("collective", std::string(name_of(rule.collective)));
  members.add_range("p", rule.p);
  members.add_range("nodes", rule.nodes);
  members.add_range("ranks_per_node", rule.ranks_per_node);
  members.add_range("bytes", rule.bytes);
  if (rule.commutative) members.add("commutative", *rule.commutative ? "true" : "false");
  members.add_text("mpi", rule.mpi);
  members.add_text("version", rule.version);
  members.add_text("use", to_text(rule.use));
  members.add("evidence", evidence.object());
  return members.object();
}

}  // namespace

Result<NumberRange> number_range(std::string_view text) {
  const std::size_t dots = text.find("..");
  NumberRange range;
  if (dots == std::string_view::npos) {
    if (text == "inf" || !read_number(text, range.least)) return Error{std::string(expected_range)};
    range.most = range.least;
    return range;
  }
  const bool is_read = read_number(text.substr(0, dots), range.least) &&
                       read_number(text.substr(dots + 2), range.most);
  if (!is_read) return Error{std::string(expected_range)};
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
  std::string text = "{\"schema\": " + json_string(rules_schema) + ",\n \"rules\": [";
  const char* separator = "\n  ";
  for (const Rule& rule : rules.all) {
    text += separator + to_json(rule);
    separator = ",\n  ";
  }
  return text + "\n ]}\n";
}

}  // namespace tutti
