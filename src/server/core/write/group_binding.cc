#include "server/core/write/group_binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/validation/group_binding.h"
#include "server/core/request/errors.h"
#include "server/core/request/resource_version.h"
#include "server/core/strategies/document.h"
#include "server/core/write/binding_draft.h"
#include "server/core/write/create.h"

namespace muster::server {
namespace {

// So often are objects prepared again that have changed in between.
constexpr int kRoundsMax = 8;

Error refusal(const api::Request& request, std::vector<Cause> causes) {
  std::string why = causes.front().message;
  if (causes.size() > 1) why += fmt::format(" (and {} more)", causes.size() - 1);
  Error error = conflict(*request.kind, request.name, why);
  error.causes = std::move(causes);
  return error;
}

// A GroupBinding is called like its root if it has no name of its own.
void set_name(Json& document) {
  if (!meta_text(document, "name").empty()) return;
  const Json* root = api::find_path(document, "spec.root");
  const std::string name(root == nullptr ? "" : api::find_string(*root, "name"));
  metadata(document)["name"] = name;
}

class GroupBinding final : public SlicedRequest {
 public:
  GroupBinding(api::Request request, Reply reply)
      : SlicedRequest(std::move(request), std::move(reply)) {}

  bool step(Context& context) override {
    Result<std::optional<Decision>> outcome = advance(context);
    if (!outcome)
      refuse(context.staging, std::move(outcome).error());
    else if (*outcome)
      context.staging.stage(request_, **std::move(outcome), std::move(reply_));
    else
      return false;
    return true;
  }

 private:
  // The decision once there is one.
  Result<std::optional<Decision>> advance(Context& context) {
    const bool is_first = !draft_;
    if (is_first) TRY(begin(context));
    prepare_some(context);
    if (!open_.empty()) return std::nullopt;
    if (!draft_->causes().empty()) return fail(refusal(request_, std::move(draft_->causes())));
    // What one slice has read has not changed in it.
    if (!is_first) {
      TRY(check_again(context));
      if (!open_.empty()) return std::nullopt;
    }
    return decide();
  }

  Result<void> begin(Context& context) {
    document_ = std::exchange(request_.body, nullptr);
    TRY(set_namespace(request_, document_));
    set_name(document_);
    request_.name = meta_text(document_, "name");
    if (auto errors = api::validate_group_binding(document_); !errors.empty())
      return fail(invalid(*request_.kind, request_.name, errors.causes()));
    draft_.emplace(request_.name_space, document_.get_object().at("spec"));
    draft_->find_root(context);
    // Popped from the back, so that causes come in the order of the items.
    open_.resize(draft_->size());
    std::iota(open_.rbegin(), open_.rend(), std::size_t{0});
    return {};
  }

  // What is prepared before the last slice is stored at once, so that the commit, for which all
  // others wait, need not.
  void prepare_some(Context& context) {
    std::vector<api::ObjectPtr> prepared;
    std::size_t bytes = 0;
    for (std::size_t done = 0; done < kSliceChanges && !open_.empty(); ++done) {
      if (bytes >= kSliceBytes) break;
      draft_->prepare(context, open_.back());
      if (api::ObjectPtr object = draft_->prepared(open_.back())) {
        bytes += object->bytes().size();
        prepared.push_back(std::move(object));
      }
      open_.pop_back();
    }
    const bool goes_on = !open_.empty() && draft_->causes().empty();
    if (goes_on && !request_.dry_run) context.staging.deposit(std::move(prepared));
  }

  Result<void> check_again(Context& context) {
    draft_->find_root(context);
    open_ = draft_->find_stale(context);
    std::ranges::reverse(open_);
    if (!draft_->causes().empty()) return fail(refusal(request_, std::move(draft_->causes())));
    if (open_.empty()) return {};
    if (++rounds_ == kRoundsMax)
      return fail(conflict(*request_.kind, request_.name,
                           fmt::format("{} of its objects keep changing", open_.size())));
    if (open_.size() > kSliceChanges) return {};
    prepare_some(context);
    if (!draft_->causes().empty()) return fail(refusal(request_, std::move(draft_->causes())));
    return {};
  }

  Decision decide() {
    Decision decision;
    JsonObject status{{"bound", draft_->bound()}};
    const api::Revision newest = draft_->newest();
    decision.transaction = draft_->finish();
    // What stands already holds from the last change of it on.
    if (decision.transaction.writes.empty() && !request_.dry_run)
      status["resourceVersion"] = to_resource_version(newest);
    draft_.reset();  // it refers to the document
    JsonObject answer{{"kind", request_.kind->kind},
                      {"apiVersion", request_.kind->api_version(request_.version)}};
    for (auto& member : document_.get_object())
      if (member.key() != "status") answer.emplace(member.key(), std::move(member.value()));
    answer["status"] = std::move(status);
    decision.answer.what = api::DocumentAnswer{.document = std::move(answer), .code = 201};
    decision.answer.warnings = std::move(request_.warnings);
    decision.complete = [](api::Answer& done, api::Revision block_end) {
      Json& shown = std::get<api::DocumentAnswer>(done.what).document;
      api::ensure_object(shown.get_object(), "status")["resourceVersion"] =
          to_resource_version(block_end);
    };
    return decision;
  }

  Json document_;
  std::optional<BindingDraft> draft_;
  std::vector<std::size_t> open_;  // items to prepare, last first
  int rounds_ = 0;
};

}  // namespace

std::unique_ptr<SlicedRequest> make_group_binding(api::Request request, Reply reply) {
  return std::make_unique<GroupBinding>(std::move(request), std::move(reply));
}

}  // namespace muster::server
