#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "api/object.h"
#include "base/time.h"

namespace muster::controllers {

// What a controller wrote about a key and has not yet seen in its feeds. A key is not looked at
// before the feeds have caught up: otherwise pods would be made, or counted, twice. If they never
// do (an object that came and went while a feed was cut), waiting ends after a while.
class OwnWrites {
 public:
  static constexpr Duration kPatience = std::chrono::minutes{5};

  // The object stands at this revision since a call about the key.
  void wrote(const std::string& key, const std::string& uid, api::Revision revision, Time now);
  // The feed shows the object, or that it is gone. True if nothing is missing for the key any more,
  // and something was. `under_way`: calls about the key are; an object that goes before the answer
  // of its call comes is not waited for.
  struct Showing {
    bool gone = false;
    bool under_way = false;
  };
  bool showed(const std::string& key, const api::Object& object, Showing showing);
  // Until when to wait for the rest; none: the feeds have caught up.
  std::optional<Time> wait_until(std::string_view key, Time now);
  // No call about the key is under way.
  void begin_look(const std::string& key) { gone_.erase(key); }
  void forget(const std::string& key) {
    missing_.erase(key);
    gone_.erase(key);
  }

 private:
  struct Missing {
    std::map<std::string, api::Revision, std::less<>> objects;  // by uid
    Time until;
  };
  std::map<std::string, Missing, std::less<>> missing_;  // by key
  // By key: uids of objects that went while calls were under way.
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> gone_;
};

}  // namespace muster::controllers
