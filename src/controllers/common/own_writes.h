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
// do (an object was added and removed while a feed was cut), waiting ends after a while.
class OwnWrites {
 public:
  static constexpr Duration kPatience = std::chrono::minutes{5};

  // A call about the key has left the object at this revision.
  void wrote(const std::string& key, const std::string& uid, api::Revision revision, Time now);
  // The feed shows the object, or that it is gone. True if this was the last thing missing for the
  // key. `under_way`: calls about the key are; an object that is gone before its call is answered
  // is not waited for.
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
