#include "server/core/write/quota_change.h"

#include <cstddef>
#include <utility>

#include "server/core/write/quota.h"
#include "server/core/write/quota_count.h"

namespace muster::server {
namespace {

// Objects that are only read: as expensive as what a slice may write.
constexpr std::size_t kBytesRead = 8 * kSliceBytes;

class QuotaChange final : public SlicedRequest {
 public:
  QuotaChange(api::Request request, Reply reply, Decide decide)
      : SlicedRequest(std::move(request), std::move(reply)), decide_(decide) {}

  bool step(Context& context) override {
    usage_.begin_slice(kSliceLooks, kBytesRead);
    if (!usage_.go_on(context)) return false;
    Context counting = context;
    counting.usage = &usage_;
    api::Request request = request_;
    Result<Decision> decision = decide_(counting, request);
    if (usage_.is_exhausted()) return false;
    usage_.end();
    if (decision)
      context.staging.stage(request, *std::move(decision), std::move(reply_));
    else
      context.staging.answer(std::move(reply_), fail(std::move(decision).error()));
    return true;
  }

 private:
  const Decide decide_;
  CountedUsage usage_;
};

}  // namespace

bool changes_quota(const api::Request& request) {
  using api::Verb;
  const bool writes =
      request.verb == Verb::Create || request.verb == Verb::Update || request.verb == Verb::Patch;
  return writes && request.kind == &quota_kind();
}

std::unique_ptr<SlicedRequest> make_quota_change(api::Request request, Reply reply, Decide decide) {
  return std::make_unique<QuotaChange>(std::move(request), std::move(reply), decide);
}

}  // namespace muster::server
