/*
 * A disk that fails on command, for one folder of one process. Preloaded with LD_PRELOAD; Linux and glibc.
 *
 *   HOLDFAST_SHIM_FOLDER    the folder whose files it watches; all others are left alone
 *   HOLDFAST_SHIM_TRIGGERS  a folder: a fault is on while a file of its name lies there. The file's content is the end of
 *                           the names that it hits (`state.db-wal`), nothing for all.
 *     no-space   write, pwrite and their kind fail with ENOSPC, before anything is written
 *     write-error  they fail with EIO
 *     sync-error fsync and fdatasync fail with EIO, and nothing is synced
 *     slow-sync  they take as many milliseconds longer as the file says
 *   HOLDFAST_SHIM_SYNCED    a folder: after each successful sync of a file its content is copied here. That is what a power
 *                           cut leaves at the least. A rename or link takes the copy along; a deleted file stays until
 *                           its folder is synced.
 *
 * The shared-memory index of a database (`-shm`) is never synced and means nothing after a power cut.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static char folder[PATH_MAX];
static const char *triggers;
static const char *synced;

__attribute__((constructor)) static void start(void) {
  const char *name = getenv("HOLDFAST_SHIM_FOLDER");
  triggers = getenv("HOLDFAST_SHIM_TRIGGERS");
  synced = getenv("HOLDFAST_SHIM_SYNCED");
  if (name == NULL || realpath(name, folder) == NULL) folder[0] = '\0';
}

/* The name of an open file relative to the folder ("" for the folder itself), or NULL when it lies elsewhere. */
static const char *name_of(int fd, char path[PATH_MAX]) {
  char link[64];
  if (folder[0] == '\0') return NULL;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length <= 0) return NULL;
  path[length] = '\0';
  size_t prefix = strlen(folder);
  if (strncmp(path, folder, prefix) != 0) return NULL;
  if (path[prefix] == '\0') return path + prefix;
  return path[prefix] == '/' ? path + prefix + 1 : NULL;
}

static int ends_with(const char *text, const char *end) {
  size_t a = strlen(text), b = strlen(end);
  return a >= b && strcmp(text + a - b, end) == 0;
}

/* Whether a fault is on; its file's content goes into `content`. */
static int is_on(const char *fault, char content[256]) {
  char path[PATH_MAX];
  if (triggers == NULL) return 0;
  snprintf(path, sizeof path, "%s/%s", triggers, fault);
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return 0;
  ssize_t length = syscall(SYS_read, fd, content, 255);
  syscall(SYS_close, fd);
  content[length > 0 ? length : 0] = '\0';
  return 1;
}

static int hits(const char *fault, const char *name) {
  char content[256];
  if (ends_with(name, "-shm")) return 0;
  return is_on(fault, content) && ends_with(name, content);
}

/* 0, or the error of a write to this file now. */
static int write_fault(int fd) {
  char path[PATH_MAX];
  const char *name = name_of(fd, path);
  if (name == NULL || name[0] == '\0') return 0;
  if (hits("no-space", name)) return ENOSPC;
  if (hits("write-error", name)) return EIO;
  return 0;
}

#define REAL(function) \
  static __typeof__(&function) real; \
  if (real == NULL) real = (__typeof__(&function))dlsym(RTLD_NEXT, #function)

#define FAIL_IF_FAULTY(fd) \
  do { \
    int before = errno; \
    int fault = write_fault(fd); \
    errno = fault == 0 ? before : fault; \
    if (fault != 0) return -1; \
  } while (0)

ssize_t write(int fd, const void *bytes, size_t size) {
  REAL(write);
  FAIL_IF_FAULTY(fd);
  return real(fd, bytes, size);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(writev);
  FAIL_IF_FAULTY(fd);
  return real(fd, parts, count);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset) {
  REAL(pwrite);
  FAIL_IF_FAULTY(fd);
  return real(fd, bytes, size, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset) {
  REAL(pwrite64);
  FAIL_IF_FAULTY(fd);
  return real(fd, bytes, size, offset);
}

static void copy_path(char path[PATH_MAX], const char *name) { snprintf(path, PATH_MAX, "%s/%s", synced, name); }

/* Replaces the copy of a file by its content now. A kill in the middle leaves the earlier copy, as it should. */
static void keep_copy(int fd, const char *name) {
  char path[PATH_MAX], temporary[PATH_MAX + 32];
  static __thread char block[1 << 16];
  copy_path(path, name);
  snprintf(temporary, sizeof temporary, "%s.copying-%ld", path, (long)syscall(SYS_gettid));
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  int from = (int)syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC, 0);
  int to = (int)syscall(SYS_openat, AT_FDCWD, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  ssize_t length = -1;
  if (from >= 0 && to >= 0) {
    off_t offset = 0;
    while ((length = syscall(SYS_pread64, from, block, sizeof block, offset)) > 0) {
      for (ssize_t done = 0; done < length;) done += syscall(SYS_write, to, block + done, length - done);
      offset += length;
    }
  }
  if (from >= 0) syscall(SYS_close, from);
  if (to >= 0) syscall(SYS_close, to);
  if (length == 0) syscall(SYS_renameat2, AT_FDCWD, temporary, AT_FDCWD, path, 0);
}

/* The folder was synced: what was deleted from it is gone for good. */
static void forget_deleted(void) {
  DIR *copies = opendir(synced);
  if (copies == NULL) return;
  for (struct dirent *entry; (entry = readdir(copies)) != NULL;) {
    char path[PATH_MAX + 256], copy[PATH_MAX];
    if (entry->d_name[0] == '.' || strstr(entry->d_name, ".copying-") != NULL) continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    copy_path(copy, entry->d_name);
    if (access(path, F_OK) != 0) syscall(SYS_unlinkat, AT_FDCWD, copy, 0);
  }
  closedir(copies);
}

static int sync_with(int fd, int (*real)(int)) {
  char path[PATH_MAX], content[256];
  const char *name = name_of(fd, path);
  if (name == NULL || ends_with(name, "-shm")) return real(fd);
  if (hits("sync-error", name)) {
    errno = EIO;
    return -1;
  }
  if (is_on("slow-sync", content)) {
    long ms = atol(content);
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
  }
  int result = real(fd);
  if (result == 0 && synced != NULL) {
    if (name[0] == '\0') forget_deleted();
    else keep_copy(fd, name);
  }
  return result;
}

int fsync(int fd) {
  REAL(fsync);
  return sync_with(fd, real);
}

int fdatasync(int fd) {
  REAL(fdatasync);
  return sync_with(fd, real);
}

/* The name below the folder of a path, or NULL. Node and SQLite use absolute paths. */
static const char *name_of_path(const char *path) {
  char parent[PATH_MAX], resolved[PATH_MAX];
  const char *slash = strrchr(path, '/');
  if (synced == NULL || folder[0] == '\0' || slash == NULL || (size_t)(slash - path) >= sizeof parent) return NULL;
  memcpy(parent, path, slash - path);
  parent[slash - path] = '\0';
  return realpath(parent, resolved) != NULL && strcmp(resolved, folder) == 0 ? slash + 1 : NULL;
}

int rename(const char *from, const char *to) {
  REAL(rename);
  int result = real(from, to);
  const char *old = name_of_path(from), *new = name_of_path(to);
  if (result == 0 && old != NULL && new != NULL) {
    char a[PATH_MAX], b[PATH_MAX];
    copy_path(a, old);
    copy_path(b, new);
    syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, 0);
  }
  return result;
}

int link(const char *from, const char *to) {
  REAL(link);
  int result = real(from, to);
  const char *old = name_of_path(from), *new = name_of_path(to);
  if (result == 0 && old != NULL && new != NULL) {
    char a[PATH_MAX], b[PATH_MAX];
    copy_path(a, old);
    copy_path(b, new);
    syscall(SYS_linkat, AT_FDCWD, a, AT_FDCWD, b, 0);
  }
  return result;
}
