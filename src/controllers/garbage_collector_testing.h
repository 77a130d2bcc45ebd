#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "controllers/controllers_testing.h"
#include "controllers/garbage_collector.h"

// For tests of the garbage collector only.
namespace muster::controllers {

// A collector with an API of its own: objects come and go by hand, calls are answered by hand.
class GarbageCollectorTest : public ::testing::Test {
 protected:
  struct Made {
    std::string_view name;
    std::string owners = {};    // comma-separated names of config maps; a trailing ! blocks
    std::string metadata = {};  // more members
  };

  static const api::Kind& config_maps() { return *api::find_kind("", "ConfigMap"); }

  // uid is "u-" and the name.
  static api::ObjectPtr config_map(const Made& made) {
    std::string owners;
    for (std::string_view rest = made.owners; !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      std::string_view name = rest.substr(0, comma);
      const bool blocking = name.ends_with('!');
      if (blocking) name.remove_suffix(1);
      owners += fmt::format(
          R"({}{{"apiVersion":"v1","kind":"ConfigMap","name":"{}","uid":"u-{}"{}}})",
          owners.empty() ? "" : ",", name, name, blocking ? R"(,"blockOwnerDeletion":true)" : "");
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    auto object = api::Object::make(
        config_maps(),
        api::parse_json(fmt::format(R"({{"metadata":{{"name":"{0}","namespace":"n","uid":"u-{0}",)"
                                    R"("ownerReferences":[{1}]{2}{3}}}}})",
                                    made.name, owners, made.metadata.empty() ? "" : ",",
                                    made.metadata))
            ->value);
    object->assign_revision({7});
    return object;
  }
  void see(const Made& made) { tell(Type::Added, made); }
  void change(const Made& made) { tell(Type::Modified, made); }
  void lose(std::string_view name) { tell(Type::Deleted, {.name = name}); }
  void tell(Type type, const Made& made) {
    collector_.apply(client::Event{.type = type, .object = config_map(made)}, now_);
  }
  void start() { collector_.apply(client::Synced{}, now_); }
  // What is asked for next: "get a", "delete a Background", "patch a {…}".
  Texts asked() {
    while (collector_.run_once(now_, 100) > 0) {
    }
    Texts out;
    for (; told_ < sent_.requests.size(); ++told_) {
      const api::Request& request = sent_.requests[told_].first;
      if (request.verb == api::Verb::Get)
        out.push_back("get " + request.name);
      else if (request.verb == api::Verb::Delete)
        out.push_back(fmt::format("delete {} {}", request.name, request.remove.propagation_policy));
      else
        out.push_back(fmt::format("patch {} {}", request.name, api::to_text(request.body)));
    }
    return out;
  }
  void answer(client::Outcome outcome) {
    collector_.apply(
        client::Called{.ticket = sent_.requests.back().second, .outcome = std::move(outcome)},
        now_);
  }
  static std::string strip(std::string_view owner, std::string_view name) {
    return fmt::format(
        R"(patch {1} {{"metadata":{{"ownerReferences":[{{"$patch":"delete","uid":"u-{0}"}}],"uid":"u-{1}"}}}})",
        owner, name);
  }
  static std::string release(std::string_view finalizer, std::string_view name) {
    return fmt::format(
        R"(patch {1} {{"metadata":{{"$deleteFromPrimitiveList/finalizers":["{0}"],"uid":"u-{1}"}}}})",
        finalizer, name);
  }
  static constexpr std::string_view kDeleting =
      R"("deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["{}"])";
  static std::string deleting(std::string_view finalizer) {
    return fmt::format(fmt::runtime(kDeleting), finalizer);
  }

  Time now_{};
  Sent sent_;
  std::size_t told_ = 0;
  GarbageCollector collector_{sent_.context()};
};

}  // namespace muster::controllers
