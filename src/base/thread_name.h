#pragma once

#include <pthread.h>

namespace muster {

// What `top -H`, perf and debuggers call the calling thread. At most 15 characters.
inline void name_this_thread(const char* name) { pthread_setname_np(pthread_self(), name); }

}  // namespace muster
