/// Measures distances through the C API.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "bench/mpi_commands.hpp"
#include "run/file.hpp"
#include "tutti/tutti.h"

namespace tutti::bench {

namespace {

/// A file that is removed with the object.
class TemporaryFile : NotCopied {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  ~TemporaryFile() {
    std::error_code none;
    std::filesystem::remove(path_, none);
  }
  /// Why it cannot be written; empty if it can.
  [[nodiscard]] std::string problem() const {
    const Result<OutputFile> tried = OutputFile::open("temporary file", path_);
    return tried ? "" : tried.error();
  }
  [[nodiscard]] Result<std::string> text() const {
    Result<std::string> text = read_text_file(path_, SIZE_MAX);
    return text ? text : Error{path_ + " " + text.error()};
  }

 private:
  std::string path_;
};

}  // namespace

Result<bool> run_distances(const Job& job, const Options& options, OutputFile& output) {
  const double begin = MPI_Wtime();
  // The MPI returns errors, so that the benchmark can print them.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  // Tutti replaces the file that it is given, which would end a link or a device.
  std::error_code none;
  const std::string made =
      std::filesystem::temp_directory_path(none) / ("tutti-distances-" + std::to_string(getpid()));
  std::optional<TemporaryFile> file;
  if (job.rank() == 0) file.emplace(made);
  std::string problem = job.from_first(file ? file->problem() : "");
  if (!problem.empty()) return Error{problem};
  const int error = TUTTI_Distances_measure(MPI_COMM_WORLD, made.c_str(), options.nodes_per_switch);
  if (error == MPI_ERR_FILE) return Error{"cannot write " + made};
  if (error != MPI_SUCCESS) return Error{"MPI error code " + std::to_string(error)};
  if (file) {
    const Result<std::string> text = file->text();
    problem = text ? output.finish(*text) : text.error();
  }
  problem = job.from_first(problem);
  if (!problem.empty()) return Error{problem};
  if (job.rank() == 0 && !options.quiet) {
    std::printf("# distances between %d ranks on %d nodes in %.3g s: %s\n", job.p(),
                job.nodes().nodes, MPI_Wtime() - begin, options.output.c_str());
  }
  return true;
}

}  // namespace tutti::bench
