#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "api/object.h"
#include "explain/words.h"

namespace muster::explain {

// What an explanation may name. Groups and pods of namespaces that the reader may not read are
// counted and take part in every plan, but are not named.
class Naming {
 public:
  using MayName = std::function<bool(std::string_view name_space)>;

  Naming() = default;  // names everybody
  explicit Naming(MayName may_name) : may_name_(std::move(may_name)) {}

  bool may_name(std::string_view name_space) const { return !may_name_ || may_name_(name_space); }
  // "podgroup default/train"
  std::string group(const scheduler::GroupKey& key) const {
    return may_name(key.name_space) ? name_of(key) : "a group in another namespace";
  }
  // "pod default/web"
  std::string pod(const api::ObjectMeta& meta) const {
    return may_name(meta.name_space) ? "pod " + api::key_text(meta) : "a pod in another namespace";
  }

 private:
  MayName may_name_;
};

}  // namespace muster::explain
