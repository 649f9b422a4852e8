/// Replaces functions of the MPI by those of a test.
#pragma once

#include <functional>

#include "run/mpi/functions.hpp"

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

}  // namespace tutti::test
