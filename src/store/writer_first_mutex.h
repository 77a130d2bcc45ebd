#pragma once

#include <pthread.h>

#include "base/check.h"

namespace muster::store {

// A std::shared_mutex in which a waiting writer goes before new readers. The standard one, on
// glibc, lets new readers in first: three threads that list without pause delayed each commit by 6
// ms. Not recursive.
class WriterFirstMutex {
 public:
  WriterFirstMutex() {
    pthread_rwlockattr_t attributes;
    CHECK(pthread_rwlockattr_init(&attributes) == 0);
    CHECK(pthread_rwlockattr_setkind_np(&attributes,
                                        PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP) == 0);
    CHECK(pthread_rwlock_init(&lock_, &attributes) == 0);
    pthread_rwlockattr_destroy(&attributes);
  }
  ~WriterFirstMutex() { pthread_rwlock_destroy(&lock_); }
  WriterFirstMutex(const WriterFirstMutex&) = delete;
  WriterFirstMutex& operator=(const WriterFirstMutex&) = delete;

  void lock() { CHECK(pthread_rwlock_wrlock(&lock_) == 0); }
  void unlock() { CHECK(pthread_rwlock_unlock(&lock_) == 0); }
  void lock_shared() { CHECK(pthread_rwlock_rdlock(&lock_) == 0); }
  void unlock_shared() { CHECK(pthread_rwlock_unlock(&lock_) == 0); }

 private:
  pthread_rwlock_t lock_;
};

}  // namespace muster::store
