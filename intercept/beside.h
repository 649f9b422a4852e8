/* Libraries in the folder of this one. */
#ifndef TUTTI_INTERCEPT_BESIDE_H
#define TUTTI_INTERCEPT_BESIDE_H

/* Loads the library of this file name from the folder that this library was loaded from, wherever
 * the program has gone since. Nothing is loaded that others could have put there. Returns its
 * handle, or NULL with the reason in `why`, which lasts until the next call. */
void* tutti_open_beside(const char* file, const char** why);

#endif
