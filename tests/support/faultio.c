/*
 * Loaded before the C library: fails the n-th change of a file below a folder, writes down every such change and every
 * wait for the disk, moves the clocks, and gives the machine's boot another name.
 */
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
    int64_t seen, at, error, sticky, cut, hits, clock_ns, steady_ns;
    char prefix[448];
};

static struct control *shared;
static int log_fd = -1;

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("FAULT_CONTROL");
    int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open64");
    int fd = name ? real(name, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *found = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (found != MAP_FAILED) shared = found;
    const char *log = getenv("FAULT_LOG");
    if (log && shared) log_fd = fcntl(real(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644), F_DUPFD_CLOEXEC, 700);
}

static int below(const char *path) {
    return strncmp(path, shared->prefix, strlen(shared->prefix)) == 0;
}

/* One record: kind, number, lengths, then the two paths and the data. Appended at once, so that processes do not mix. */
static void note(char kind, int64_t number, const char *path, const char *other, const void *data, size_t size) {
    if (log_fd < 0 || !(below(path) || (other && below(other)))) return;
    struct { int64_t kind, number, path, other, size; } head = {
        kind, number, (int64_t)strlen(path), other ? (int64_t)strlen(other) : 0, (int64_t)size};
    struct iovec parts[] = {{&head, sizeof head}, {(void *)path, head.path}, {(void *)other, head.other}, {(void *)data, size}};
    int before = errno;
    if (writev(log_fd, parts, 4) < 0) abort();
    errno = before;
}

static const char *of_fd(int fd, char *full) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, full, PATH_MAX - 1);
    full[size < 0 ? 0 : size] = 0;
    return full;
}

static const char *of_path(int folder, const char *path, char *full) {
    if (path[0] == '/') return path;
    if (folder == AT_FDCWD) {
        if (!getcwd(full, PATH_MAX)) full[0] = 0;
    } else {
        of_fd(folder, full);
    }
    size_t used = strlen(full);
    snprintf(full + used, PATH_MAX - used, "/%s", path);
    return full;
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

static int watched(void) {
    return shared && shared->prefix[0];
}

static int at_path(int folder, const char *path) {
    char full[PATH_MAX];
    return watched() && below(of_path(folder, path, full)) && struck(0) == 1;
}

static int at_fd(int fd, int writes) {
    char full[PATH_MAX];
    return watched() && below(of_fd(fd, full)) ? struck(writes) : 0;
}

static int noted(int done, char kind, int64_t number, int folder, const char *path) {
    char full[PATH_MAX];
    if (done >= 0 && log_fd >= 0) note(kind, number, of_path(folder, path, full), NULL, NULL, 0);
    return done;
}

static int noted_both(int done, char kind, int from_folder, const char *from, int folder, const char *to) {
    char one[PATH_MAX], other[PATH_MAX];
    if (done >= 0 && log_fd >= 0)
        note(kind, 0, of_path(from_folder, from, one), of_path(folder, to, other), NULL, 0);
    return done;
}

/* What is renamed is written down whole: programs also write through buffers of the C library, past this layer. */
static int noted_rename(int done, int from_folder, const char *from, int folder, const char *to) {
    static __thread char content[1 << 16];
    char one[PATH_MAX], other[PATH_MAX];
    if (done < 0 || log_fd < 0) return done;
    int (*real)(int, const char *, int, ...) = dlsym(RTLD_NEXT, "openat64");
    int fd = real(folder, to, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t size = fd < 0 ? -1 : read(fd, content, sizeof content);
    if (fd >= 0) close(fd);
    int whole = size > 0 && size < (ssize_t)sizeof content;
    note('R', whole, of_path(from_folder, from, one), of_path(folder, to, other), content, whole ? (size_t)size : 0);
    return done;
}

static int noted_fd(int done, char kind, int64_t number, int fd) {
    char full[PATH_MAX];
    if (done >= 0 && log_fd >= 0) note(kind, number, of_fd(fd, full), NULL, NULL, 0);
    return done;
}

static ssize_t noted_write(ssize_t done, int fd, int64_t offset, const void *data) {
    char full[PATH_MAX];
    if (done > 0 && log_fd >= 0) note('W', offset, of_fd(fd, full), NULL, data, (size_t)done);
    return done;
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
    ssize_t done = real(fd, data, size);
    if (done <= 0 || log_fd < 0 || fd == log_fd) return done;
    off64_t end = lseek64(fd, 0, SEEK_CUR);
    return end < 0 ? done : noted_write(done, fd, end - done, data);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t);
    WRITES(size);
    return noted_write(real(fd, data, size, offset), fd, offset, data);
}

#define ON_FD(name, kind) \
    int name(int fd) { \
        REAL(int, name, int); \
        return at_fd(fd, 0) ? -1 : noted_fd(real(fd), kind, 0, fd); \
    }
ON_FD(fsync, 'S')
ON_FD(fdatasync, 'D')

int ftruncate64(int fd, off64_t size) {
    REAL(int, ftruncate64, int, off64_t);
    return at_fd(fd, 0) ? -1 : noted_fd(real(fd, size), 'T', size, fd);
}

#define CHANGES (O_CREAT | O_TRUNC)

int open64(const char *path, int flags, ...) {
    REAL(int, open64, const char *, int, ...);
    va_list rest;
    va_start(rest, flags);
    int mode = va_arg(rest, int);
    va_end(rest);
    if (!strcmp(path, "/proc/sys/kernel/random/boot_id") && getenv("FAULT_BOOT")) path = getenv("FAULT_BOOT");
    if (!(flags & CHANGES)) return real(path, flags, mode);
    return at_path(AT_FDCWD, path) ? -1 : noted(real(path, flags, mode), 'O', !!(flags & O_TRUNC), AT_FDCWD, path);
}

int openat64(int folder, const char *path, int flags, ...) {
    REAL(int, openat64, int, const char *, int, ...);
    va_list rest;
    va_start(rest, flags);
    int mode = va_arg(rest, int);
    va_end(rest);
    if (!(flags & CHANGES)) return real(folder, path, flags, mode);
    return at_path(folder, path) ? -1 : noted(real(folder, path, flags, mode), 'O', !!(flags & O_TRUNC), folder, path);
}

int rename(const char *from, const char *to) {
    REAL(int, rename, const char *, const char *);
    return at_path(AT_FDCWD, to) ? -1 : noted_rename(real(from, to), AT_FDCWD, from, AT_FDCWD, to);
}

int renameat(int from_folder, const char *from, int folder, const char *to) {
    REAL(int, renameat, int, const char *, int, const char *);
    return at_path(folder, to) ? -1 : noted_rename(real(from_folder, from, folder, to), from_folder, from, folder, to);
}

int link(const char *from, const char *to) {
    REAL(int, link, const char *, const char *);
    return at_path(AT_FDCWD, to) ? -1 : noted_both(real(from, to), 'L', AT_FDCWD, from, AT_FDCWD, to);
}

int linkat(int from_folder, const char *from, int folder, const char *to, int flags) {
    REAL(int, linkat, int, const char *, int, const char *, int);
    if (at_path(folder, to)) return -1;
    return noted_both(real(from_folder, from, folder, to, flags), 'L', from_folder, from, folder, to);
}

int unlink(const char *path) {
    REAL(int, unlink, const char *);
    return at_path(AT_FDCWD, path) ? -1 : noted(real(path), 'U', 0, AT_FDCWD, path);
}

int unlinkat(int folder, const char *path, int flags) {
    REAL(int, unlinkat, int, const char *, int);
    return at_path(folder, path) ? -1 : noted(real(folder, path, flags), 'U', 0, folder, path);
}

int mkdir(const char *path, mode_t mode) {
    REAL(int, mkdir, const char *, mode_t);
    return at_path(AT_FDCWD, path) ? -1 : noted(real(path, mode), 'M', 0, AT_FDCWD, path);
}

int mkdirat(int folder, const char *path, mode_t mode) {
    REAL(int, mkdirat, int, const char *, mode_t);
    return at_path(folder, path) ? -1 : noted(real(folder, path, mode), 'M', 0, folder, path);
}

int rmdir(const char *path) {
    REAL(int, rmdir, const char *);
    return noted(real(path), 'U', 0, AT_FDCWD, path);
}

int symlink(const char *from, const char *to) {
    REAL(int, symlink, const char *, const char *);
    char full[PATH_MAX];
    int done = real(from, to);
    if (!done && log_fd >= 0) note('Y', 0, of_path(AT_FDCWD, to, full), NULL, from, strlen(from));
    return done;
}

static int64_t moved(clockid_t which) {
    if (!shared || (which != CLOCK_REALTIME && which != CLOCK_MONOTONIC)) return 0;
    return __atomic_load_n(which == CLOCK_REALTIME ? &shared->clock_ns : &shared->steady_ns, __ATOMIC_SEQ_CST);
}

int clock_gettime(clockid_t which, struct timespec *now) {
    REAL(int, clock_gettime, clockid_t, struct timespec *);
    int done = real(which, now);
    if (!done && moved(which)) {
        int64_t told = (int64_t)now->tv_sec * 1000000000 + now->tv_nsec + moved(which);
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
