#pragma once

#include <optional>
#include <utility>

#include "server/core/testing/core_fixture.h"
#include "server/core/write/batch.h"

namespace muster::server {

// A core whose requests about many objects are decided slice by slice, and what comes meanwhile.
class SlicedTest : public CoreTest {
 protected:
  using CoreTest::CoreTest;

  // Submits without going on.
  void begin(Request out) {
    answer_.reset();
    registry_.submit(std::move(out), now_, [this](Result<Answer> a) { answer_ = std::move(a); });
  }
  void commit_staged() {
    if (const auto batch = registry_.begin_commit()) {
      batch->commit(*store_);
      registry_.end_commit();
      batch->answer();
    }
  }
  // Submits, and commits what is decided, without ending what is unfinished.
  Result<Answer> meanwhile(Request out) {
    std::optional<Result<Answer>> answer;
    registry_.submit(std::move(out), now_, [&](Result<Answer> a) { answer = std::move(a); });
    commit_staged();
    EXPECT_TRUE(answer.has_value());
    return std::move(answer).value_or(fail(Reason::InternalError, "no answer"));
  }

  std::optional<Result<Answer>> answer_;  // of what began last
};

}  // namespace muster::server
