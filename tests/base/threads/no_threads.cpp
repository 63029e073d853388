// A system without a thread to give, for the process that this library is preloaded into.
#include <pthread.h>

#include <cerrno>

#pragma GCC visibility push(default)
extern "C" int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) noexcept { return EAGAIN; }
#pragma GCC visibility pop
