#include "server/http/work_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>

namespace muster::server {
namespace {

TEST(WorkPool, ClientsTakeTurns) {
  WorkPool pool(1);
  const auto crowd = std::make_shared<Account>();
  const auto late = std::make_shared<Account>();
  std::promise<void> begun;
  std::promise<void> gate;
  std::promise<void> done;
  std::string order;  // written by the one thread of the pool
  pool.run(crowd, [&] {
    begun.set_value();
    gate.get_future().wait();
  });
  begun.get_future().wait();
  for (int i = 0; i < 5; ++i) pool.run(crowd, [&] { order += 'c'; });
  pool.run(late, [&] { order += 'L'; });
  for (int i = 0; i < 3; ++i) pool.run(crowd, [&] { order += 'c'; });
  pool.run(late, [&] { order += 'M'; });
  pool.run(crowd, [&] { done.set_value(); });
  gate.set_value();
  done.get_future().wait();
  EXPECT_EQ(order, "cLcMcccccc");
}

// What is done in steps lets others go first after each, but not what came after it from the same
// client.
TEST(WorkPool, OthersHaveTheirTurnBetweenSteps) {
  WorkPool pool(1);
  const auto large = std::make_shared<Account>();
  const auto other = std::make_shared<Account>();
  std::promise<void> begun;
  std::promise<void> gate;
  std::promise<void> done;
  std::string order;  // written by the one thread of the pool
  pool.run(large, [&] {
    begun.set_value();
    gate.get_future().wait();
  });
  begun.get_future().wait();
  pool.run_in_steps(large, [&, left = 4]() mutable {
    order += 's';
    return --left == 0;
  });
  pool.run(large, [&] {
    order += 'L';
    done.set_value();
  });
  for (const char c : {'1', '2'}) pool.run(other, [&order, c] { order += c; });
  gate.set_value();
  done.get_future().wait();
  EXPECT_EQ(order, "s1s2ssL");
}

TEST(WorkPool, DropsWhatHasNotBegunWhenItEnds) {
  const auto who = std::make_shared<Account>();
  std::promise<void> begun;
  std::promise<void> gate;
  std::atomic<int> ran{0};
  std::thread opener;
  {
    WorkPool pool(1);
    pool.run(who, [&] {
      begun.set_value();
      gate.get_future().wait();
      ++ran;
    });
    begun.get_future().wait();
    for (int i = 0; i < 100; ++i) pool.run(who, [&] { ++ran; });
    opener = std::thread([&] { gate.set_value(); });
  }
  opener.join();
  EXPECT_GE(ran.load(), 1);
}

}  // namespace
}  // namespace muster::server
