// Preloaded: system calls on files whose names begin with "heddle-io-" fail as HEDDLE_TEST_FAULT says: "KIND:N", from
// the Nth read or write on (counted in each process). Kinds: nospace, io (EIO), quota: every one from there on;
// interrupted: every second one is EINTR; short: each moves at most 7 bytes, or half of what it could.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_int calls;

static int is_ours(int descriptor) {
  char link[64], name[512];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t n = readlink(link, name, sizeof name - 1);
  if (n <= 0) return 0;
  name[n] = 0;
  return strstr(name, "heddle-io-") != NULL;
}

// The program changes the variable between its parts, when no other thread looks; each part counts anew.
static const char* fault_now(int* number) {
  static char now[64];
  const char* fault = getenv("HEDDLE_TEST_FAULT");
  if (fault == NULL) return NULL;
  if (strcmp(fault, now) != 0) {
    snprintf(now, sizeof now, "%s", fault);
    atomic_store(&calls, 0);
  }
  const char* from = strchr(fault, ':');
  *number = atomic_fetch_add(&calls, 1);
  return from != NULL && *number < atoi(from + 1) ? NULL : fault;
}

// 0: go on, with at most *most bytes.
static int fails(int descriptor, int writes, size_t* most) {
  int number;
  if (!is_ours(descriptor)) return 0;
  const char* fault = fault_now(&number);
  if (fault == NULL) return 0;
  if (strncmp(fault, "short", 5) == 0) {
    *most = *most <= 14 ? (*most + 1) / 2 : number % 2 == 0 ? 7 : *most / 2;
    return 0;
  }
  if (strncmp(fault, "interrupted", 11) == 0) return number % 2 == 0 ? EINTR : 0;
  if (strncmp(fault, "io", 2) == 0) return EIO;
  if (!writes) return 0;
  return strncmp(fault, "quota", 5) == 0 ? EDQUOT : ENOSPC;
}

static size_t total(const struct iovec* pieces, int n) {
  size_t bytes = 0;
  for (int i = 0; i < n; ++i) bytes += pieces[i].iov_len;
  return bytes;
}

ssize_t pread(int descriptor, void* data, size_t bytes, off_t offset) {
  static ssize_t (*real)(int, void*, size_t, off_t);
  if (real == NULL) real = (ssize_t(*)(int, void*, size_t, off_t))dlsym(RTLD_NEXT, "pread");
  if ((errno = fails(descriptor, 0, &bytes)) != 0) return -1;
  return real(descriptor, data, bytes, offset);
}
ssize_t pread64(int descriptor, void* data, size_t bytes, off_t offset) {
  return pread(descriptor, data, bytes, offset);
}

ssize_t pwrite(int descriptor, const void* data, size_t bytes, off_t offset) {
  static ssize_t (*real)(int, const void*, size_t, off_t);
  if (real == NULL) real = (ssize_t(*)(int, const void*, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
  if ((errno = fails(descriptor, 1, &bytes)) != 0) return -1;
  return real(descriptor, data, bytes, offset);
}
ssize_t pwrite64(int descriptor, const void* data, size_t bytes, off_t offset) {
  return pwrite(descriptor, data, bytes, offset);
}

// A call that is cut short moves a part of its first piece.
ssize_t preadv(int descriptor, const struct iovec* pieces, int n, off_t offset) {
  static ssize_t (*real)(int, const struct iovec*, int, off_t);
  if (real == NULL) real = (ssize_t(*)(int, const struct iovec*, int, off_t))dlsym(RTLD_NEXT, "preadv");
  const size_t whole = total(pieces, n);
  size_t most = whole;
  if ((errno = fails(descriptor, 0, &most)) != 0) return -1;
  if (most == whole) return real(descriptor, pieces, n, offset);
  const struct iovec part = {pieces[0].iov_base, pieces[0].iov_len < most ? pieces[0].iov_len : most};
  return real(descriptor, &part, 1, offset);
}
ssize_t preadv64(int descriptor, const struct iovec* pieces, int n, off_t offset) {
  return preadv(descriptor, pieces, n, offset);
}

ssize_t pwritev(int descriptor, const struct iovec* pieces, int n, off_t offset) {
  static ssize_t (*real)(int, const struct iovec*, int, off_t);
  if (real == NULL) real = (ssize_t(*)(int, const struct iovec*, int, off_t))dlsym(RTLD_NEXT, "pwritev");
  const size_t whole = total(pieces, n);
  size_t most = whole;
  if ((errno = fails(descriptor, 1, &most)) != 0) return -1;
  if (most == whole) return real(descriptor, pieces, n, offset);
  const struct iovec part = {pieces[0].iov_base, pieces[0].iov_len < most ? pieces[0].iov_len : most};
  return real(descriptor, &part, 1, offset);
}
ssize_t pwritev64(int descriptor, const struct iovec* pieces, int n, off_t offset) {
  return pwritev(descriptor, pieces, n, offset);
}
