/* Loads the shared object in its first argument privately, as Python loads mpi4py, and runs it. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  void* object = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (object == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  int (*run)(int, char**) = NULL;
  *(void**)&run = dlsym(object, "run");
  return run != NULL ? run(argc - 1, argv + 1) : 2;
}
