#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "base/time.h"
#include "client/client.h"

namespace muster::app {

// May the bearer of this token read this path? The API server answers, by a TokenReview and a
// SubjectAccessReview, as it does for every component of Kubernetes. Answers are cached briefly,
// since scrapes repeat. Any thread.
class DelegatedAccess {
 public:
  enum class Access : std::uint8_t {
    Allowed,
    Unauthorized,  // the token is nobody's
    Forbidden,
    Unknown,  // the API server could not be asked
  };
  struct Answer {
    Access access = Access::Unknown;
    std::string text = {};  // of refusals, for humans
  };
  using Done = std::function<void(Answer)>;

  static constexpr Duration kCachedFor = std::chrono::seconds{10};
  // A client that sends made-up tokens must not fill the memory.
  static constexpr std::size_t kCachedMax = 512;

  // Both must outlive it, and requests to the client must be answered before it is destroyed.
  DelegatedAccess(client::Client& client, const Clock& clock) : client_(client), clock_(clock) {}
  DelegatedAccess(const DelegatedAccess&) = delete;
  DelegatedAccess& operator=(const DelegatedAccess&) = delete;

  // Calls `done` once, immediately or later on a thread of the client. Without a token the user is
  // system:anonymous.
  void check(const std::string& bearer, const std::string& path, Done done);

 private:
  // The bearer of a token.
  struct User {
    std::string name;  // empty: nobody
    std::string uid = {};
    api::JsonArray groups = {};
    api::JsonObject extra = {};
  };
  template <typename Value>
  struct Cached {
    Value value;
    Time until;
  };
  template <typename Value>
  using Cache = boost::unordered_flat_map<std::string, Cached<Value>>;

  template <typename Value>
  const Value* find(const Cache<Value>& cache, const std::string& key) const;
  template <typename Value>
  void store(Cache<Value>& cache, const std::string& key, Value value) const;
  void authorize(const User& user, const std::string& path, Done done);
  static User user_in(const client::Outcome& outcome);

  client::Client& client_;
  const Clock& clock_;
  std::mutex mutex_;
  Cache<User> users_;       // by token; under mutex_, as is the next
  Cache<Answer> verdicts_;  // by user and path
};

}  // namespace muster::app
