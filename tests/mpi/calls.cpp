/// The functions under test, and the algorithms from the library's list.
#include "calls.hpp"

#include <array>
#include <map>

namespace tutti::test {
namespace {

/// Additional parameters to test, by algorithm; other algorithms run with their defaults.
const std::multimap<std::string, std::string>& variants() {
  static const std::multimap<std::string, std::string> all = {
      {"linear", "order=natural"},
      {"linear", "order=by_size"},
      {"linear", "order=distance"},
      {"linear_sequence", "order=natural"},
      {"linear_sequence", "order=by_size"},
      {"linear_sync", "segment=1"},
      {"linear_sync", "segment=64K,order=natural"},
      {"binomial", "order=natural"},
      {"binomial", "order=by_size"},
      {"binomial", "order=distance"},
      {"knomial", "k=2"},
      {"knomial", "k=3,order=natural"},
      {"knomial", "k=5,order=by_size"},
      {"knomial", "k=3,order=distance"},
      {"ordered_tree", "promote=off"},
      {"ordered_tree", "rule=gather_time"},
      {"ordered_tree", "threshold=1K"},
      {"ordered_tree", "ports=2"},
      {"ordered_tree", "ports=3,rule=gather_time,promote=off"},
  };
  return all;
}

constexpr std::array paper_names = {"LIN", "LS", "bnom", "TUW", "traff"};

using Text = std::array<char, 1024>;

std::string name_at(const char* collective, int index) {
  Text text;
  int length = static_cast<int>(text.size());
  const int code = TUTTI_Algorithm_name(collective, index, text.data(), &length);
  return code == MPI_SUCCESS ? std::string(text.data(), static_cast<std::size_t>(length)) : "";
}

}  // namespace

const char* name_of(Kind kind) {
  constexpr std::array names = {"gather", "gatherv", "scatter", "scatterv"};
  return names[static_cast<std::size_t>(kind)];
}

const Calls& native_calls() {
  static const Calls calls = {
    PMPI_Gather,
    PMPI_Gatherv,
    PMPI_Scatter,
    PMPI_Scatterv,
#if MPI_VERSION >= 4
    PMPI_Gather_c,
    PMPI_Gatherv_c,
    PMPI_Scatter_c,
    PMPI_Scatterv_c,
#else
    nullptr,
    nullptr,
    nullptr,
    nullptr,
#endif
  };
  return calls;
}

const Calls& calls_under_test(bool native) {
  static const Calls calls = {
      TUTTI_Gather,   TUTTI_Gatherv,   TUTTI_Scatter,   TUTTI_Scatterv,
      TUTTI_Gather_c, TUTTI_Gatherv_c, TUTTI_Scatter_c, TUTTI_Scatterv_c,
  };
  return native ? native_calls() : calls;
}

std::vector<std::string> algorithms(Kind kind, bool native) {
  return native ? std::vector<std::string>{"native"} : algorithms(name_of(kind));
}

std::vector<std::string> algorithms(const char* collective) {
  std::vector<std::string> names;
  for (std::string name; !(name = name_at(collective, static_cast<int>(names.size()))).empty();) {
    names.push_back(name);
  }
  return names;
}

std::vector<std::string> specifications(Kind kind, bool native) {
  if (native) return {"native"};
  std::vector<std::string> all = {"auto", "native"};
  for (const std::string& name : algorithms(kind, native)) {
    all.push_back(name);
    const auto [first, last] = variants().equal_range(name);
    for (auto variant = first; variant != last; ++variant) {
      all.push_back(name + ":" + variant->second);
    }
  }
  all.insert(all.end(), paper_names.begin(), paper_names.end());
  return all;
}

std::string with_level(const std::string& specification, const std::string& level) {
  if (level.empty() || specification == "auto") return specification;
  return specification + (specification.find(':') == std::string::npos ? ":" : ",") + level;
}

std::string last_run(MPI_Comm comm, const std::string& collective) {
  Text text{};
  int length = static_cast<int>(text.size());
  TUTTI_Algorithm_last(comm, collective.c_str(), text.data(), &length);
  return text.data();
}

Forced::Forced(Context& context, const std::string& collective, const std::string& specification)
    : Forced(collective, specification, context.options().native) {
  context.expect_empty(error_);
}

Forced::Forced(const std::string& collective, const std::string& specification, bool native)
    : collective_(collective), native_(native) {
  if (native_) return;
  Text text{};
  int length = static_cast<int>(text.size());
  const int code =
      TUTTI_Algorithm_set(collective.c_str(), specification.c_str(), text.data(), &length);
  if (code != MPI_SUCCESS) {
    error_ = "cannot force " + specification + ": " + text.data();
    return;
  }
  length = static_cast<int>(text.size());
  TUTTI_Algorithm_get(collective.c_str(), text.data(), &length);
  in_force_ = text.data();
}

bool is_for_memory(const std::string& ran) {
  return std::getenv("TUTTI_MEMORY") != nullptr && ran.ends_with("would exceed TUTTI_MEMORY");
}

Forced::~Forced() {
  if (!native_) TUTTI_Algorithm_set(collective_.c_str(), "auto", nullptr, nullptr);
}

std::string Forced::wrongly_ran(MPI_Comm comm) const {
  if (native_ || in_force_ == "auto") return "";
  const std::string ran = last(comm);
  if (is_for_memory(ran) || ran.starts_with(in_force_ + ": ")) return "";
  return "forced " + in_force_ + ", ran \"" + ran + "\"";
}

}  // namespace tutti::test
