/* Finds the folder of this library, and checks who can write there. */
#define _GNU_SOURCE
#include "beside.h"

#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The absolute path of this library, if the loader was given a relative one. That is relative to
 * the process's folder at load time. */
static char* absolute;
static char reason[2 * PATH_MAX];

static const char* path_of_this(void) {
  Dl_info here;
  return dladdr((void*)(uintptr_t)&path_of_this, &here) != 0 ? here.dli_fname : NULL;
}

__attribute__((constructor)) static void note_folder(void) {
  const char* path = path_of_this();
  if (path != NULL && path[0] != '/') absolute = realpath(path, NULL);
}

/* True if a group has this user alone, as many systems create for each user, with the same number
 * or name. Leaves the program's results of getgrgid and getpwuid alone. */
static int is_private(gid_t group, uid_t user) {
  struct group of_group;
  struct group* named = NULL;
  struct passwd of_user;
  struct passwd* owner = NULL;
  char texts[2][1 << 14];
  /* A group with more members than fit is not private. */
  if (getgrgid_r(group, &of_group, texts[0], sizeof texts[0], &named) == ERANGE) return 0;
  getpwuid_r(user, &of_user, texts[1], sizeof texts[1], &owner);
  if (named == NULL || owner == NULL) return group == (gid_t)user;
  for (char** member = named->gr_mem; *member != NULL; ++member) {
    if (strcmp(*member, owner->pw_name) != 0) return 0;
  }
  return group == (gid_t)user || strcmp(named->gr_name, owner->pw_name) == 0;
}

/* True if only root, the user and the owner of this library can write, and those whom root
 * allows. */
static int is_safe(const struct stat* what, uid_t owner_of_this) {
  const uid_t owner = what->st_uid;
  if (owner != 0 && owner != geteuid() && owner != owner_of_this) return 0;
  if ((what->st_mode & S_IWOTH) != 0) return 0;
  if ((what->st_mode & S_IWGRP) == 0 || owner == 0 || what->st_gid == 0) return 1;
  return is_private(what->st_gid, owner);
}

static int check(const char* path, uid_t owner_of_this) {
  struct stat found;
  if (stat(path, &found) != 0) {
    snprintf(reason, sizeof reason, "%s does not exist", path);
    return 0;
  }
  if (is_safe(&found, owner_of_this)) return 1;
  snprintf(
      reason, sizeof reason,
      "%s has mode %04o, owner %ld and group %ld: other users could change it; expected a file "
      "that only its owner can write (chmod go-w), owned by you, root or the owner of "
      "libtutti.so",
      path, (unsigned)(found.st_mode & 07777), (long)found.st_uid, (long)found.st_gid);
  return 0;
}

void* tutti_open_beside(const char* file, const char** why) {
  char path[PATH_MAX];
  const char* const given = absolute != NULL ? absolute : path_of_this();
  struct stat this_library;
  *why = reason;
  if (given == NULL || given[0] != '/' || realpath(given, path) == NULL ||
      stat(path, &this_library) != 0) {
    snprintf(reason, sizeof reason, "cannot find the folder of libtutti.so");
    return NULL;
  }
  char* const name = strrchr(path, '/') + 1;
  *name = '\0';
  if (!check(path, this_library.st_uid)) return NULL;
  if (strlen(path) + strlen(file) >= sizeof path) {
    snprintf(reason, sizeof reason, "the path of the folder of libtutti.so is too long");
    return NULL;
  }
  strcpy(name, file);
  if (!check(path, this_library.st_uid)) return NULL;
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) *why = dlerror();
  return library;
}
