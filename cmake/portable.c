/* Functions of new versions of glibc that the static C++ runtime calls. With these definitions a
 * library runs with glibc 2.34 too. They are hidden: no other library sees them. */
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>

/* glibc 2.36; std::random_device. */
__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t value = 0;
  while (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) continue;
  return value;
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE
struct search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int look(struct dl_phdr_info* object, size_t size, void* given) {
  const struct search* search = given;
  const ElfW(Phdr)* frames = NULL;
  const ElfW(Phdr)* code = NULL;
  (void)size;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    const uintptr_t offset = search->address - (object->dlpi_addr + part->p_vaddr);
    if (part->p_type == PT_LOAD && offset < part->p_memsz) code = part;
    if (part->p_type == PT_GNU_EH_FRAME) frames = part;
  }
  if (code == NULL || frames == NULL) return 0;
  *search->found = (struct dl_find_object){
      .dlfo_map_start = (void*)(object->dlpi_addr + code->p_vaddr),
      .dlfo_map_end = (void*)(object->dlpi_addr + code->p_vaddr + code->p_memsz),
      .dlfo_eh_frame = (void*)(object->dlpi_addr + frames->p_vaddr),
  };
  return 1;
}

/* glibc 2.35; where exceptions find how to unwind the code at an address. */
__attribute__((visibility("hidden"))) int _dl_find_object(void* address,
                                                          struct dl_find_object* found) {
  struct search search = {(uintptr_t)address, found};
  return dl_iterate_phdr(look, &search) != 0 ? 0 : -1;
}
#endif
