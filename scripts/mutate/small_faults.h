// Put before every file that small_faults.cc has rewritten: which fault a run is to have, and which
// of them it came by.
//
//   MUSTER_FAULT=17          fault 17 is there; without it, none is
//   MUSTER_FAULTS_REACHED=F  appends the numbers of the faults whose places were reached to F at
//   exit
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace muster_faults {

inline const int chosen = [] {
  const char* text = std::getenv("MUSTER_FAULT");
  return text ? std::atoi(text) : -1;
}();

inline constexpr int kMost = 1 << 20;
inline unsigned char* const reached = [] {
  static unsigned char* seen = nullptr;
  if (!std::getenv("MUSTER_FAULTS_REACHED")) return seen;
  seen = static_cast<unsigned char*>(std::calloc(kMost, 1));
  std::atexit([] {
    std::FILE* file = std::fopen(std::getenv("MUSTER_FAULTS_REACHED"), "a");
    for (int id = 0; file && id < kMost; ++id)
      if (seen[id]) std::fprintf(file, "%d\n", id);
    if (file) std::fclose(file);
  });
  return seen;
}();

inline bool on(int id) {
  if (reached && id < kMost) reached[id] = 1;
  return id == chosen;
}

// A condition that always, or never, holds.
template <class T>
bool yes(int id, T&& value) {
  const bool is = static_cast<bool>(value);
  return on(id) || is;
}
template <class T>
bool no(int id, T&& value) {
  const bool is = static_cast<bool>(value);
  return !on(id) && is;
}
// A boundary moved by one.
template <class A, class B>
auto lt(int id, const A& a, const B& b) {
  return on(id) ? a <= b : a < b;
}
template <class A, class B>
auto le(int id, const A& a, const B& b) {
  return on(id) ? a < b : a <= b;
}
template <class A, class B>
auto gt(int id, const A& a, const B& b) {
  return on(id) ? a >= b : a > b;
}
template <class A, class B>
auto ge(int id, const A& a, const B& b) {
  return on(id) ? a > b : a >= b;
}
// The wrong operator.
template <class A, class B>
auto add(int id, const A& a, const B& b) {
  return on(id) ? a - b : a + b;
}
template <class A, class B>
auto sub(int id, const A& a, const B& b) {
  return on(id) ? a + b : a - b;
}
template <class A, class B>
auto mul(int id, const A& a, const B& b) {
  return on(id) ? a + b : a * b;
}
template <class A, class B>
auto quo(int id, const A& a, const B& b) {
  return on(id) ? a * b : a / b;
}
template <class A, class B>
auto rem(int id, const A& a, const B& b) {
  return on(id) ? a : a % b;
}
// A number that is one too large, a duration twice as long.
template <class T>
T more(int id, T value) {
  return on(id) ? static_cast<T>(value + 1) : value;
}
template <class T>
T twice(int id, T value) {
  return on(id) ? value + value : value;
}
// The other of two.
template <int id>
struct Min {
  template <class T>
  static T of(const T& a, const T& b) {
    return on(id) ? std::max<T>(a, b) : std::min<T>(a, b);
  }
};
template <int id>
struct Max {
  template <class T>
  static T of(const T& a, const T& b) {
    return on(id) ? std::min<T>(a, b) : std::max<T>(a, b);
  }
};

}  // namespace muster_faults
