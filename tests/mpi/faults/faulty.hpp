/// Replaces functions of the MPI by those of a test, which `watch` ends if its ranks hang.
#pragma once

#include <tutti/tutti.h>

#include <array>
#include <functional>
#include <string>

#include "mpi/error_class.hpp"
#include "run/mpi/functions.hpp"
#include "watch.h"

namespace tutti::test {

/// Replaces the functions of the MPI on one rank, for its lifetime.
class Faulty {
 public:
  explicit Faulty(const std::function<void(MpiFunctions&)>& spoil)
      : sound_(mpi()), faulty_(sound_) {
    spoil(faulty_);
    detail::found_functions = &faulty_;
  }
  ~Faulty() { detail::found_functions = &sound_; }
  Faulty(const Faulty&) = delete;
  Faulty& operator=(const Faulty&) = delete;

 private:
  const MpiFunctions& sound_;
  MpiFunctions faulty_;
};

/// A duplicate of the world, with an error handler of its own.
class OwnWorld {
 public:
  explicit OwnWorld(MPI_Errhandler handler = MPI_ERRORS_RETURN) {
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    PMPI_Comm_set_errhandler(comm_, handler);
  }
  ~OwnWorld() { MPI_Comm_free(&comm_); }
  OwnWorld(const OwnWorld&) = delete;
  OwnWorld& operator=(const OwnWorld&) = delete;
  operator MPI_Comm() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// The algorithm of the last call of a collective on `comm`, and why it ran.
inline std::string last_run(MPI_Comm comm, const char* collective) {
  std::array<char, 300> text{};
  int length = static_cast<int>(text.size());
  TUTTI_Algorithm_last(comm, collective, text.data(), &length);
  return text.data();
}

}  // namespace tutti::test
