/* Loads libraries from the folder of this one. */
#ifndef TUTTI_INTERCEPT_BESIDE_H
#define TUTTI_INTERCEPT_BESIDE_H

/* Loads the library of this file name from the folder of this library, even if the program has
 * changed its folder since. Refuses files that others could have put there. Returns the library's
 * handle, or NULL with the reason in `why`, which lasts until the next call. */
void* tutti_open_beside(const char* file, const char** why);

#endif
