#pragma once

#include <cstddef>
#include <utility>

#include "api/request.h"
#include "base/error.h"
#include "server/core/request/reply.h"
#include "server/core/write/context.h"

namespace muster::server {

// What one slice may do before others get their turn: a few milliseconds.
inline constexpr std::size_t kSliceChanges = 200;  // objects parsed, changed and written
inline constexpr std::size_t kSliceBytes = std::size_t{512} << 10U;  // of those objects
inline constexpr std::size_t kSliceLooks = 2'000;                    // objects looked at

// A write about any number of objects. It is decided in slices, so that requests that arrive
// meanwhile need not wait until it ends:
//
//   step() → false, others are decided, step() → false, ..., step() → true: decided and staged
//
// What an earlier slice has read may have changed by the next one; each kind of request says how it
// deals with that. Belongs to the registry's thread.
class SlicedRequest {
 public:
  virtual ~SlicedRequest() = default;
  SlicedRequest(const SlicedRequest&) = delete;
  SlicedRequest& operator=(const SlicedRequest&) = delete;

  // Does the next slice. True once the answer is staged; then it must not be called again.
  virtual bool step(Context& context) = 0;

  // Answers with the error instead of going on.
  void refuse(Staging& staging, Error error) {
    staging.answer(std::move(reply_), fail(std::move(error)));
  }

  const api::Request& request() const { return request_; }

 protected:
  SlicedRequest(api::Request request, Reply reply)
      : request_(std::move(request)), reply_(std::move(reply)) {}

  api::Request request_;
  Reply reply_;
};

}  // namespace muster::server
