#pragma once

#include <stdlib.h>  // NOLINT: mkdtemp is POSIX, not C++

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/object.h"
#include "store/engine.h"

// What the tests of the store, the engines and the crash run share.
namespace muster::store::testing {

// A pod that carries `text`, so that its versions can be told apart.
inline std::shared_ptr<Object> make_pod(std::string_view name, std::string_view text = "") {
  return Object::make(
      api::kinds::pod(),
      {{"metadata",
        {{"name", name}, {"namespace", "default"}, {"annotations", {{"text", text}}}}}});
}
inline std::shared_ptr<Object> make_node(std::string_view name) {
  return Object::make(api::kinds::node(), {{"metadata", {{"name", name}}}});
}
inline std::string pod_key(std::string_view name) {
  return make_key(api::kinds::pod(), "default", name);
}

// The writes that create, replace and delete the pod `name`.
inline Write create(std::string_view name, std::string_view text = "") {
  return {.key = pod_key(name), .object = make_pod(name, text), .expected = {}};
}
inline Write replace(std::string_view name, Revision expected, std::string_view text = "") {
  return {.key = pod_key(name), .object = make_pod(name, text), .expected = expected};
}
inline Write remove(std::string_view name, Revision expected) {
  return {.key = pod_key(name), .object = nullptr, .expected = expected};
}
template <typename... Writes>
Transaction together(Writes... writes) {
  Transaction transaction;
  (transaction.writes.push_back(std::move(writes)), ...);
  return transaction;
}

// The objects that a transaction writes, to be deposited.
inline std::vector<ObjectPtr> objects_of(const Transaction& transaction) {
  std::vector<ObjectPtr> objects;
  for (const Write& write : transaction.writes)
    if (write.object) objects.push_back(write.object);
  return objects;
}

// A directory that is gone with the test.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "muster-store-XXXXXX").string();
    CHECK(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string path() const { return path_; }
  // A place for a store: not there yet.
  std::string store() const { return path_ + "/store"; }

 private:
  std::string path_;
};

}  // namespace muster::store::testing
