/// Finds the program's own call behind a binding for Fortran or Python, and the modules of call
/// sites through the loader.
#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "api/report.hpp"
#include "run/process.hpp"

namespace tutti {

namespace {

/// Who made a call, by the file of its code.
enum class Caller { program, binding, python };

Caller caller_in(const void* site) {
  Dl_info found{};
  const auto* call = static_cast<const char*>(site) - 1;
  if (dladdr(call, &found) == 0 || found.dli_fname == nullptr) return Caller::program;
  const std::string_view path = found.dli_fname;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  // Also Tutti's own functions for Fortran, and its front where the compiler makes no tail calls.
  if (file.starts_with("libmpi") || file.starts_with("libtutti")) return Caller::binding;
  const bool is_extension = file.find(".cpython-") != file.npos || file.find(".abi3.") != file.npos;
  return is_extension ? Caller::python : Caller::program;
}

/// The functions of the interpreter in this process.
struct Python {
  int (*is_initialized)() = nullptr;
  int (*is_finalizing)() = nullptr;
  int (*lock)() = nullptr;
  void (*unlock)(int) = nullptr;
  void* (*frame)() = nullptr;
  void* (*back)(void*) = nullptr;
  void* (*code)(void*) = nullptr;
  int (*line)(void*) = nullptr;
  void* (*attribute)(void*, const char*) = nullptr;
  const char* (*text)(void*) = nullptr;
  void (*release)(void*) = nullptr;
  void (*retain)(void*) = nullptr;
  void (*clear_error)() = nullptr;
  bool is_complete = false;
};

template <class Function>
bool look_up(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

Python find_python() {
  Python found;
  const bool knows_end = look_up(found.is_finalizing, "Py_IsFinalizing") ||
                         look_up(found.is_finalizing, "_Py_IsFinalizing");
  found.is_complete =
      knows_end && look_up(found.is_initialized, "Py_IsInitialized") &&
      look_up(found.lock, "PyGILState_Ensure") && look_up(found.unlock, "PyGILState_Release") &&
      look_up(found.frame, "PyEval_GetFrame") && look_up(found.back, "PyFrame_GetBack") &&
      look_up(found.code, "PyFrame_GetCode") && look_up(found.line, "PyFrame_GetLineNumber") &&
      look_up(found.attribute, "PyObject_GetAttrString") &&
      look_up(found.text, "PyUnicode_AsUTF8") && look_up(found.release, "Py_DecRef") &&
      look_up(found.retain, "Py_IncRef") && look_up(found.clear_error, "PyErr_Clear");
  return found;
}

/// The text of an attribute; empty if it has none.
std::string text_of(const Python& python, void* object, const char* name) {
  void* value = python.attribute(object, name);
  const char* text = value == nullptr ? nullptr : python.text(value);
  const std::string copy = text == nullptr ? "" : text;
  if (value != nullptr) python.release(value);
  if (text == nullptr) python.clear_error();
  return copy;
}

/// "file:line (function)" of the innermost frame outside mpi4py; empty without one.
std::string python_line() {
  static const Python python = find_python();
  if (!python.is_complete || python.is_initialized() == 0 || python.is_finalizing() != 0) return "";
  const int state = python.lock();
  void* frame = python.frame();
  if (frame != nullptr) python.retain(frame);
  std::string line;
  while (frame != nullptr && line.empty()) {
    void* code = python.code(frame);
    const std::string path = text_of(python, code, "co_filename");
    if (path.find("/mpi4py/") == path.npos) {
      line = path.substr(path.rfind('/') + 1) + ":" + std::to_string(python.line(frame)) + " (" +
             text_of(python, code, "co_name") + ")";
    }
    python.release(code);
    void* back = line.empty() ? python.back(frame) : nullptr;
    python.release(frame);
    frame = back;
  }
  python.unlock(state);
  return line;
}

/// Sites that are lines of text; an element stays where it is.
struct NamedSites {
  std::mutex mutex;
  std::set<std::string> names;
};

const void* named_site(std::string name) {
  NamedSites& all = of_process<NamedSites>();
  const std::lock_guard lock(all.mutex);
  return &*all.names.insert(std::move(name)).first;
}

/// The name that program_site has given to this site; null if it is an address. O(names).
const std::string* name_of_site(const void* site) {
  NamedSites& all = of_process<NamedSites>();
  const std::lock_guard lock(all.mutex);
  for (const std::string& name : all.names) {
    if (&name == site) return &name;
  }
  return nullptr;
}

/// By return address, as the log's sites are: no more of them than calls in the code. If a module
/// takes the place of one that was unloaded, the report may name another frame of its stack.
struct Callers {
  std::mutex mutex;
  std::unordered_map<const void*, Caller> all;
};

/// What caller_in finds, which asks the loader once for each site. Thread-safe.
Caller caller_at(const void* site) noexcept {
  try {
    Callers& callers = of_process<Callers>();
    const std::lock_guard lock(callers.mutex);
    const auto [known, is_new] = callers.all.try_emplace(site, Caller::program);
    if (is_new) known->second = caller_in(site);
    return known->second;
  } catch (const std::bad_alloc&) {
    return caller_in(site);
  }
}

/// A walk up the stack, from the innermost frame on, that ends outside bindings.
struct StackWalk {
  const void* site;  ///< the return address in the outermost frame of Tutti
  bool is_past_tutti = false;
  int frames = 0;
  const void* found = nullptr;
};

_Unwind_Reason_Code visit_frame(_Unwind_Context* context, void* data) noexcept {
  constexpr int max_frames = 64;
  StackWalk& walk = *static_cast<StackWalk*>(data);
  const auto* const at = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  walk.is_past_tutti = walk.is_past_tutti || at == walk.site;
  if (walk.is_past_tutti && caller_at(at) != Caller::binding) walk.found = at;
  const bool ends = walk.found != nullptr || ++walk.frames == max_frames;
  return ends ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

/// The first return address up the stack outside bindings, from that of the current call on; null
/// if the stack cannot be read that far. O(frames up to it).
const void* outside_bindings(const void* site) {
  StackWalk walk = {site};
  _Unwind_Backtrace(visit_frame, &walk);
  return walk.found;
}

const void* find_site(const void* site, Caller caller) {
  const void* found = site;
  if (caller == Caller::binding) {
    found = outside_bindings(site);
    if (found == nullptr) return site;
    caller = caller_at(found);
  }
  if (caller != Caller::python) return found;
  std::string line = python_line();
  return line.empty() ? found : named_site(std::move(line));
}

std::string hexadecimal(std::uintptr_t value) {
  std::array<char, 2 + 2 * sizeof value + 1> text{};
  std::snprintf(text.data(), text.size(), "0x%jx", static_cast<std::uintmax_t>(value));
  return text.data();
}

/// The paths of the modules that hold sites. Only for the thread that writes the report.
using Modules = std::set<std::string>;

}  // namespace

const void* program_site(const void* site) noexcept {
  static constinit thread_local const void* latest = nullptr;  // of the program itself
  if (site == latest || site == nullptr) return site;
  try {
    const Caller caller = caller_at(site);
    if (caller != Caller::program) return find_site(site, caller);
    latest = site;
  } catch (const std::bad_alloc&) {
    // The site in the binding is better than none.
  }
  return site;
}

std::string path_of_program() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown).string();
}

std::string site_name(const void* site) {
  if (const std::string* name = name_of_site(site)) return *name;
  const auto address = reinterpret_cast<std::uintptr_t>(site);
  Dl_info info{};
  const link_map* module = nullptr;
  // A return address may lie behind a function whose last instruction is the call.
  if (dladdr1(reinterpret_cast<const void*>(address - 1), &info,
              reinterpret_cast<void**>(const_cast<link_map**>(&module)), RTLD_DL_LINKMAP) == 0 ||
      module == nullptr) {
    return "generated code";
  }
  const bool is_program = module->l_name == nullptr || module->l_name[0] == '\0';
  const std::string path = is_program ? path_of_program() : module->l_name;
  of_process<Modules>().insert(path);
  return path.substr(path.rfind('/') + 1) + "+" + hexadecimal(address - module->l_addr);
}

std::vector<std::string> modules_of_sites() {
  const Modules& all = of_process<Modules>();
  return {all.begin(), all.end()};
}

}  // namespace tutti
