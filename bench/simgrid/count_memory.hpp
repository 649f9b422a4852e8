/// What Tutti's code has allocated since begin_counting(), in bytes, less what it has released.
#pragma once

struct Counted {
  double sum = 0;   ///< of all ranks
  double most = 0;  ///< of one rank
};

extern "C" {
void begin_counting();
Counted counted();
}
