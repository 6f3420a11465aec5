/* Loaded into a process by LD_PRELOAD: writes down what the process does to the files below $CRASH_ROOT, in the order
 * in which it happened, to $CRASH_TRACE. Lines that it writes to $CRASH_LOG are taken for acknowledgements.
 *
 * Record: kind 1 | inode 8 | number 8 | bytes of text 4 | text     (numbers little endian)
 *   'C' file created or opened to be written; number 1: it was created, 2: it was emptied; text: path
 *   'W' bytes written at an offset (number); text: the bytes
 *   'T' length set (number)
 *   'F' fsync of a file began (number: its serial)       'f' it ended
 *   'D' fsync of a directory began; text: path           'd' it ended
 *   'N' a name in that directory: inode, text: path; between 'D' and the next record of another kind
 *   'R' renamed; text: old path, a zero, new path
 *   'U' unlinked, 'M' directory made, 'X' directory removed; text: path
 *   'A' acknowledged; text: the line
 *
 * Names in a directory are listed when it is synced, since a rename can come as a raw system call, past this library. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILES_MAX 65536
enum { NOTHING, DATA_FILE, DIRECTORY, LOG_FILE };

static struct { char kind; uint64_t inode; char *path; } files[FILES_MAX];
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static const char *root, *log_path;
static int trace = -1;
static uint64_t serial;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("CRASH_TRACE");
  root = getenv("CRASH_ROOT");
  log_path = getenv("CRASH_LOG");
  if (path && root && log_path)
    trace = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

static void give_up(const char *why) {
  fprintf(stderr, "record.c: %s\n", why);
  abort();
}

static void record(char kind, uint64_t inode, uint64_t number, const void *text, size_t bytes) {
  unsigned char head[21];
  uint32_t length = bytes;
  head[0] = kind;
  memcpy(head + 1, &inode, 8);
  memcpy(head + 9, &number, 8);
  memcpy(head + 17, &length, 4);
  struct iovec parts[2] = {{head, sizeof head}, {(void *)text, bytes}};
  if (syscall(SYS_writev, trace, parts, 2) != (long)(sizeof head + bytes)) give_up("the trace cannot be written");
}

static void record_path(char kind, uint64_t inode, uint64_t number, const char *path) {
  record(kind, inode, number, path, strlen(path));
}

static int below_root(const char *path) {
  size_t n = root ? strlen(root) : 0;
  return trace >= 0 && path && !strncmp(path, root, n) && (path[n] == '/' || !path[n]);
}

/* What a descriptor stands for. */
static int kind_of(int fd) { return trace >= 0 && fd >= 0 && fd < FILES_MAX ? files[fd].kind : NOTHING; }

/* A file below the root must not be changed by a descriptor that nothing is known of. */
static int unknown(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t bytes = trace >= 0 ? readlink(link, path, sizeof path - 1) : -1;
  path[bytes < 0 ? 0 : bytes] = 0;
  if (below_root(path)) give_up("a file has a descriptor that was not seen");
  return NOTHING;
}

static int changed_kind(int fd) {
  int kind = kind_of(fd);
  return kind == NOTHING ? unknown(fd) : kind;
}

static void forget(int fd) {
  if (fd >= 0 && fd < FILES_MAX) files[fd].kind = NOTHING;
}

static void remember(int fd, int kind, const char *path) {
  struct stat about;
  if (fd >= FILES_MAX || fstat(fd, &about)) give_up("too many files are open");
  if (kind == DATA_FILE && S_ISDIR(about.st_mode)) kind = DIRECTORY;
  free(files[fd].path);
  files[fd].path = strdup(path);
  files[fd].inode = about.st_ino;
  files[fd].kind = kind;
}

static int opened(int from, const char *path, int flags, mode_t mode) {
  int kind = below_root(path) ? DATA_FILE : trace >= 0 && path && !strcmp(path, log_path) ? LOG_FILE : NOTHING;
  if (kind == NOTHING) {
    int fd = syscall(SYS_openat, from, path, flags, mode);
    if (fd >= 0) forget(fd);
    return fd;
  }
  pthread_mutex_lock(&order);
  int existed = syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
  int fd = syscall(SYS_openat, from, path, flags, mode), error = errno;
  if (fd >= 0) {
    remember(fd, kind, path);
    if (files[fd].kind == DATA_FILE && (flags & (O_WRONLY | O_RDWR)))
      record_path('C', files[fd].inode, (existed ? 0 : 1) + (flags & O_TRUNC ? 2 : 0), path);
  }
  pthread_mutex_unlock(&order);
  errno = error;
  return fd;
}

#define MODE_OF(flags) mode_t mode = 0; if ((flags) & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }
int open(const char *path, int flags, ...) { MODE_OF(flags) return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE_OF(flags) return opened(AT_FDCWD, path, flags | O_LARGEFILE, mode); }
int openat(int from, const char *path, int flags, ...) { MODE_OF(flags) return opened(from, path, flags, mode); }
int openat64(int from, const char *path, int flags, ...) { MODE_OF(flags) return opened(from, path, flags | O_LARGEFILE, mode); }
int creat(const char *path, mode_t mode) { return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

/* A second descriptor of a file. */
static int doubled(int fd, int copy) {
  int error = errno, kind = kind_of(fd);
  if (copy >= 0 && copy != fd) {
    forget(copy);
    if (kind != NOTHING) remember(copy, kind, files[fd].path);
  }
  errno = error;
  return copy;
}
int dup(int fd) { return doubled(fd, syscall(SYS_dup, fd)); }
int dup2(int fd, int copy) { return fd == copy ? copy : doubled(fd, syscall(SYS_dup3, fd, copy, 0)); }
int dup3(int fd, int copy, int flags) { return doubled(fd, syscall(SYS_dup3, fd, copy, flags)); }

static int controlled(int fd, int what, long argument) {
  int done = syscall(SYS_fcntl, fd, what, argument);
  return what == F_DUPFD || what == F_DUPFD_CLOEXEC ? doubled(fd, done) : done;
}
#define ARGUMENT_OF(what) va_list rest; va_start(rest, what); long argument = va_arg(rest, long); va_end(rest)
int fcntl(int fd, int what, ...) { ARGUMENT_OF(what); return controlled(fd, what, argument); }
int fcntl64(int fd, int what, ...) { ARGUMENT_OF(what); return controlled(fd, what, argument); }

int close(int fd) {
  forget(fd);
  return syscall(SYS_close, fd);
}

static off_t end_or_position(int fd) {
  struct stat about;
  if (!(fcntl(fd, F_GETFL) & O_APPEND)) return lseek(fd, 0, SEEK_CUR);
  return fstat(fd, &about) ? 0 : about.st_size;
}

/* Writes at `at`, or where the file stands if that is negative. */
static ssize_t written(int fd, const void *bytes, size_t count, off_t at) {
  int kind = changed_kind(fd);
  if (kind != NOTHING) pthread_mutex_lock(&order);
  off_t place = kind == DATA_FILE && at < 0 ? end_or_position(fd) : at;
  ssize_t done = at < 0 ? syscall(SYS_write, fd, bytes, count) : syscall(SYS_pwrite64, fd, bytes, count, at);
  int error = errno;
  if (done > 0 && kind == DATA_FILE) record('W', files[fd].inode, place, bytes, done);
  if (done > 0 && kind == LOG_FILE) record('A', 0, 0, bytes, done);
  if (kind != NOTHING) pthread_mutex_unlock(&order);
  errno = error;
  return done;
}

ssize_t write(int fd, const void *bytes, size_t count) { return written(fd, bytes, count, -1); }
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) { return written(fd, bytes, count, at); }
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) { return written(fd, bytes, count, at); }

/* A short write is allowed: the caller goes on with the rest. */
ssize_t writev(int fd, const struct iovec *parts, int count) {
  if (changed_kind(fd) == NOTHING) return syscall(SYS_writev, fd, parts, count);
  for (int part = 0; part < count; part++)
    if (parts[part].iov_len) return written(fd, parts[part].iov_base, parts[part].iov_len, -1);
  return 0;
}

/* Callers fall back to read and write. */
ssize_t copy_file_range(int from, off64_t *at, int to, off64_t *to_at, size_t count, unsigned flags) {
  if (kind_of(to) == NOTHING) return syscall(SYS_copy_file_range, from, at, to, to_at, count, flags);
  errno = ENOSYS;
  return -1;
}
ssize_t sendfile(int to, int from, off_t *at, size_t count) {
  if (kind_of(to) == NOTHING) return syscall(SYS_sendfile, to, from, at, count);
  errno = ENOSYS;
  return -1;
}
ssize_t sendfile64(int to, int from, off64_t *at, size_t count) { return sendfile(to, from, at, count); }

/* Nobody uses these so far. */
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
  if (changed_kind(fd) != NOTHING) give_up("pwritev is not recorded");
  return syscall(SYS_pwritev, fd, parts, count, at, 0);
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) { return pwritev(fd, parts, count, at); }
int sync_file_range(int fd, off64_t at, off64_t bytes, unsigned flags) {
  if (changed_kind(fd) != NOTHING) give_up("sync_file_range is not recorded");
  return syscall(SYS_sync_file_range, fd, at, bytes, flags);
}

static int cut(int fd, off_t length) {
  if (changed_kind(fd) != DATA_FILE) return syscall(SYS_ftruncate, fd, length);
  pthread_mutex_lock(&order);
  int failed = syscall(SYS_ftruncate, fd, length), error = errno;
  if (!failed) record('T', files[fd].inode, length, 0, 0);
  pthread_mutex_unlock(&order);
  errno = error;
  return failed;
}
int ftruncate(int fd, off_t length) { return cut(fd, length); }
int ftruncate64(int fd, off64_t length) { return cut(fd, length); }

int fallocate(int fd, int mode, off_t at, off_t bytes) {
  if (kind_of(fd) == NOTHING) return syscall(SYS_fallocate, fd, mode, at, bytes);
  errno = EOPNOTSUPP;
  return -1;
}
int fallocate64(int fd, int mode, off64_t at, off64_t bytes) { return fallocate(fd, mode, at, bytes); }

static void record_names(const char *path) {
  DIR *folder = opendir(path);
  struct dirent *entry;
  char name[8192];
  while (folder && (entry = readdir(folder)))
    if (entry->d_type == DT_REG && snprintf(name, sizeof name, "%s/%s", path, entry->d_name) < (int)sizeof name)
      record_path('N', entry->d_ino, 0, name);
  if (folder) closedir(folder);
}

static int synced(int fd, int call) {
  int kind = changed_kind(fd);
  if (kind != DATA_FILE && kind != DIRECTORY) return syscall(call, fd);
  pthread_mutex_lock(&order);
  uint64_t mine = ++serial;
  if (kind == DATA_FILE) record('F', files[fd].inode, mine, 0, 0);
  else {
    record_path('D', files[fd].inode, mine, files[fd].path);
    record_names(files[fd].path);
  }
  pthread_mutex_unlock(&order);
  int failed = syscall(call, fd), error = errno;
  pthread_mutex_lock(&order);
  if (!failed) record(kind == DATA_FILE ? 'f' : 'd', 0, mine, 0, 0);
  pthread_mutex_unlock(&order);
  errno = error;
  return failed;
}
int fsync(int fd) { return synced(fd, SYS_fsync); }
int fdatasync(int fd) { return synced(fd, SYS_fdatasync); }

int rename(const char *from, const char *to) {
  if (!below_root(from) || !below_root(to)) return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  char both[8192];
  size_t bytes = strlen(from) + 1 + strlen(to);
  if (bytes >= sizeof both) give_up("a path is too long");
  strcpy(both, from);
  strcpy(both + strlen(from) + 1, to);
  pthread_mutex_lock(&order);
  int failed = syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0), error = errno;
  if (!failed) record('R', 0, 0, both, bytes);
  pthread_mutex_unlock(&order);
  errno = error;
  return failed;
}

/* A call that changes one name. */
static int named(char kind, const char *path, int from, const char *given, int flags, mode_t mode) {
  if (below_root(path)) pthread_mutex_lock(&order);
  int failed = kind == 'M' ? syscall(SYS_mkdirat, from, given, mode) : syscall(SYS_unlinkat, from, given, flags);
  int error = errno;
  if (below_root(path)) {
    if (!failed) record_path(kind, 0, 0, path);
    pthread_mutex_unlock(&order);
  }
  errno = error;
  return failed;
}
int unlink(const char *path) { return named('U', path, AT_FDCWD, path, 0, 0); }
int rmdir(const char *path) { return named('X', path, AT_FDCWD, path, AT_REMOVEDIR, 0); }
int mkdir(const char *path, mode_t mode) { return named('M', path, AT_FDCWD, path, 0, mode); }

/* Removing a tree goes by descriptors of folders. */
int unlinkat(int from, const char *path, int flags) {
  char link[64], whole[8192];
  const char *named_by = path;
  if (trace >= 0 && path[0] != '/' && from >= 0) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", from);
    ssize_t bytes = readlink(link, whole, sizeof whole / 2);
    if (bytes > 0 && strlen(path) < sizeof whole / 2 - 2) {
      whole[bytes] = '/';
      strcpy(whole + bytes + 1, path);
      named_by = whole;
    }
  }
  return named(flags & AT_REMOVEDIR ? 'X' : 'U', named_by, from, path, flags, 0);
}
