/* Loaded before the C library: fails the n-th change of a file below a folder, and moves the wall clock. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* Shared by every process that the test starts, and by the test itself. */
struct control {
    int64_t seen, at, error, sticky, cut, hits, clock_ns, reserved;
    char prefix[448];
};

static struct control *shared;

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("FAULT_CONTROL");
    int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open64");
    int fd = name ? real(name, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *found = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (found != MAP_FAILED) shared = found;
}

static int below(const char *path) {
    return strncmp(path, shared->prefix, strlen(shared->prefix)) == 0;
}

/* 0: go on. 1: fail with errno set. 2: write only a part. */
static int struck(int writes) {
    int64_t now = __atomic_add_fetch(&shared->seen, 1, __ATOMIC_SEQ_CST);
    int64_t at = shared->at;
    if (!at || now < at || (now > at && !shared->sticky)) return 0;
    if (shared->cut && now == at && !writes) return 0;
    __atomic_add_fetch(&shared->hits, 1, __ATOMIC_SEQ_CST);
    if (shared->cut && now == at) return 2;
    errno = (int)shared->error;
    return 1;
}

static int at_path(const char *path) {
    char full[PATH_MAX];
    if (!shared || !shared->prefix[0]) return 0;
    if (path[0] != '/') {
        if (!getcwd(full, sizeof full)) return 0;
        size_t used = strlen(full);
        snprintf(full + used, sizeof full - used, "/%s", path);
        path = full;
    }
    return below(path) && struck(0) == 1;
}

static int at_fd_path(int folder, const char *path) {
    char link[64], full[PATH_MAX];
    if (!shared || !shared->prefix[0]) return 0;
    if (path[0] == '/' || folder == AT_FDCWD) return at_path(path);
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t size = readlink(link, full, sizeof full - 1);
    if (size < 0) return 0;
    snprintf(full + size, sizeof full - size, "/%s", path);
    return at_path(full);
}

static int at_fd(int fd, int writes) {
    char link[64], full[PATH_MAX];
    if (!shared || !shared->prefix[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, full, sizeof full - 1);
    if (size < 0) return 0;
    full[size] = 0;
    return below(full) ? struck(writes) : 0;
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = dlsym(RTLD_NEXT, #name)

#define WRITES(size) \
    int how = size > 1 ? at_fd(fd, 1) : at_fd(fd, 0); \
    if (how == 1) return -1; \
    if (how == 2) size /= 2

ssize_t write(int fd, const void *data, size_t size) {
    REAL(ssize_t, write, int, const void *, size_t);
    WRITES(size);
    return real(fd, data, size);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t);
    WRITES(size);
    return real(fd, data, size, offset);
}

#define ON_FD(name) \
    int name(int fd) { \
        REAL(int, name, int); \
        return at_fd(fd, 0) ? -1 : real(fd); \
    }
ON_FD(fsync)
ON_FD(fdatasync)

int ftruncate64(int fd, off64_t size) {
    REAL(int, ftruncate64, int, off64_t);
    return at_fd(fd, 0) ? -1 : real(fd, size);
}

#define CHANGES (O_CREAT | O_TRUNC)

int open64(const char *path, int flags, ...) {
    REAL(int, open64, const char *, int, ...);
    va_list rest;
    va_start(rest, flags);
    int mode = va_arg(rest, int);
    va_end(rest);
    return (flags & CHANGES) && at_path(path) ? -1 : real(path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) {
    REAL(int, openat64, int, const char *, int, ...);
    va_list rest;
    va_start(rest, flags);
    int mode = va_arg(rest, int);
    va_end(rest);
    return (flags & CHANGES) && at_fd_path(folder, path) ? -1 : real(folder, path, flags, mode);
}

int rename(const char *from, const char *to) {
    REAL(int, rename, const char *, const char *);
    return at_path(to) ? -1 : real(from, to);
}

int renameat(int from_folder, const char *from, int folder, const char *to) {
    REAL(int, renameat, int, const char *, int, const char *);
    return at_fd_path(folder, to) ? -1 : real(from_folder, from, folder, to);
}

int link(const char *from, const char *to) {
    REAL(int, link, const char *, const char *);
    return at_path(to) ? -1 : real(from, to);
}

int linkat(int from_folder, const char *from, int folder, const char *to, int flags) {
    REAL(int, linkat, int, const char *, int, const char *, int);
    return at_fd_path(folder, to) ? -1 : real(from_folder, from, folder, to, flags);
}

int unlink(const char *path) {
    REAL(int, unlink, const char *);
    return at_path(path) ? -1 : real(path);
}

int unlinkat(int folder, const char *path, int flags) {
    REAL(int, unlinkat, int, const char *, int);
    return at_fd_path(folder, path) ? -1 : real(folder, path, flags);
}

int mkdir(const char *path, mode_t mode) {
    REAL(int, mkdir, const char *, mode_t);
    return at_path(path) ? -1 : real(path, mode);
}

int mkdirat(int folder, const char *path, mode_t mode) {
    REAL(int, mkdirat, int, const char *, mode_t);
    return at_fd_path(folder, path) ? -1 : real(folder, path, mode);
}

static int64_t moved(void) {
    return shared ? __atomic_load_n(&shared->clock_ns, __ATOMIC_SEQ_CST) : 0;
}

int clock_gettime(clockid_t which, struct timespec *now) {
    REAL(int, clock_gettime, clockid_t, struct timespec *);
    int done = real(which, now);
    if (!done && which == CLOCK_REALTIME && moved()) {
        int64_t told = (int64_t)now->tv_sec * 1000000000 + now->tv_nsec + moved();
        now->tv_sec = told / 1000000000;
        now->tv_nsec = told % 1000000000;
    }
    return done;
}

time_t time(time_t *told) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (told) *told = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *told, void *zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    told->tv_sec = now.tv_sec;
    told->tv_usec = now.tv_nsec / 1000;
    return 0;
}
