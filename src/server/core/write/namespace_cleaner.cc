#include "server/core/write/namespace_cleaner.h"

#include <algorithm>
#include <utility>

#include "api/conversion.h"
#include "server/core/strategies/document.h"

namespace muster::server {
namespace {

api::Request about(const api::Kind& kind, api::Verb verb) {
  api::Request request;
  request.verb = verb;
  request.kind = &kind;
  request.version = kind.stored_version;
  request.user = {.name = "system:serviceaccount:kube-system:namespace-controller", .groups = {}};
  return request;
}

api::Request finalize_request(const api::Object& name_space) {
  const api::Kind& kind = name_space.kind();
  api::Request request = about(kind, api::Verb::Update);
  request.name = name_space.meta().name;
  request.subresource = "finalize";
  request.body = name_space.document();
  JsonArray others;
  for (const std::string& finalizer : text_list(request.body, "spec.finalizers"))
    if (finalizer != "kubernetes") others.emplace_back(finalizer);
  api::ensure_object(request.body.get_object(), "spec")["finalizers"] = std::move(others);
  return request;
}

}  // namespace

void NamespaceCleaner::find_terminating() {
  stale_ = false;
  std::map<std::string, Terminating> found;
  for (const api::ObjectPtr& object :
       store_.list(api::kinds::name_space().store_prefix + "/").objects) {
    if (!object->meta().deletion_time) continue;
    const auto known = terminating_.find(object->meta().name);
    found.emplace(object->meta().name,
                  known == terminating_.end() ? Terminating{} : std::move(known->second));
  }
  terminating_ = std::move(found);
}

bool NamespaceCleaner::has_content(const std::string& name_space, std::string& found) {
  if (!found.empty() && store_.has_any(found)) return true;
  for (const api::Kind* kind : api::all_kinds()) {
    if (!kind->namespaced || !kind->stored) continue;
    found = kind->store_prefix + "/" + name_space + "/";
    if (store_.has_any(found)) return true;
  }
  return false;
}

bool NamespaceCleaner::run(const Submit& submit) {
  if (stale_) find_terminating();
  bool busy = false;
  for (auto& [name, terminating] : terminating_) {
    Stage& stage = terminating.stage;
    if (stage == Stage::Found) {
      stage = Stage::Emptying;
      for (const api::Kind* kind : api::all_kinds()) {
        if (!kind->namespaced || !kind->stored || &api::stored_kind(*kind) != kind) continue;
        api::Request request = about(*kind, api::Verb::DeleteCollection);
        request.name_space = name;
        request.remove.propagation_policy = "Background";
        submit(std::move(request));
      }
      busy = true;
    } else if (stage == Stage::Emptying && !has_content(name, terminating.content)) {
      stage = Stage::Finalizing;
      const auto object = store_.get(store::make_key(api::kinds::name_space(), "", name));
      if (object) submit(finalize_request(*object));
      busy = true;
    }
  }
  return busy;
}

}  // namespace muster::server
