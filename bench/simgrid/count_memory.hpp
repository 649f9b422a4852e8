/// What Tutti's code has allocated since begin_counting(), in bytes, less what it has released.
#pragma once

extern "C" {
void begin_counting();
/// Sets `sum` to the bytes of all ranks, and `most` to those of the rank that has most.
void read_counts(double* sum, double* most);
}
