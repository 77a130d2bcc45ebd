#include "app/registry_thread.h"

#include <gtest/gtest.h>

#include <optional>

#include "api/kind.h"
#include "server/core/server.h"
#include "store/engines/memory.h"

namespace muster::app {
namespace {

// Whoever asks a registry that has ended, or is full, gets an answer: the reply is not lost with
// the refused request.
TEST(RegistryThreadTest, ARefusedRequestIsAnswered) {
  const SystemClock clock;
  SystemEntropy entropy;
  const std::unique_ptr<store::Store> store =
      store::Store::open(store::make_memory_engine()).value();
  watch::Window window;
  window.start(store->compacted());
  store->listen([&](std::span<const store::Change> changes) { window.append(changes); });
  server::Registry registry(*store, window, entropy);
  RegistryThread thread(registry, *store, clock);
  const server::Server server(registry, *store, window, thread.post());
  thread.stop();

  api::Request request;
  request.verb = api::Verb::Create;
  request.kind = &api::kinds::node();
  request.version = "v1";
  request.body = api::JsonObject{{"metadata", api::JsonObject{{"name", "n"}}}};
  std::optional<Result<api::Answer>> answer;
  server.handle(std::move(request), [&](Result<api::Answer> got) { answer = std::move(got); });
  ASSERT_TRUE(answer.has_value());
  ASSERT_FALSE(answer->has_value());
  EXPECT_EQ(answer->error().reason, Reason::TooManyRequests);
}

}  // namespace
}  // namespace muster::app
