#include "app/component_thread.h"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <variant>

#include "api/kinds/kind.h"

namespace muster::app {
namespace {

// Where it is when a step begins; time passes in steps alone. Touched by the component's thread,
// and by the test before and after it.
struct Course {
  static constexpr std::size_t kStepsMax = 1000;  // so that a test that fails ends, too

  std::size_t last = 1;  // the step at which the thread is closed
  Duration step_takes{};
  std::vector<std::size_t> steps;  // of each round
  std::promise<void> at_last;
  std::promise<void> closed;
};

class CourseClock final : public Clock {
 public:
  Time now() const override { return Time(Duration(ticks_.load())); }
  void advance(Duration by) { ticks_ += by.count(); }

 private:
  std::atomic<Duration::rep> ticks_ = 1'000'000;
};

// Is polled once a round.
class CountingFeed final : public client::Feed {
 public:
  explicit CountingFeed(Course& course) : course_(course) {}
  Poll poll(std::vector<client::Event>& /*out*/, std::size_t /*max*/) override {
    course_.steps.push_back(0);
    return {.synced = true, .more = false};
  }

 private:
  Course& course_;
};

class CountingClient final : public client::Client {
 public:
  explicit CountingClient(Course& course) : course_(course) {}
  void send(api::Request /*request*/, client::Done /*done*/) override {}
  std::unique_ptr<client::Feed> watch(const api::Kind& /*kind*/,
                                      std::function<void()> /*wake*/) override {
    return std::make_unique<CountingFeed>(course_);
  }

 private:
  Course& course_;
};

// Always has something to do.
class Busy final : public client::Component {
 public:
  Busy(Course& course, CourseClock& clock) : course_(course), clock_(clock) {}
  void apply(client::Input /*input*/, Time /*now*/) override {}
  std::size_t run_once(Time /*now*/, std::size_t limit) override {
    std::size_t done = 0;
    for (; done < limit && taken_ < Course::kStepsMax; ++done) step();
    return done;
  }
  std::optional<Time> next_deadline() const override { return std::nullopt; }
  std::vector<const api::Kind*> watched_kinds() const override { return {&api::kinds::pod()}; }

 private:
  void step() {
    ++course_.steps.back();
    clock_.advance(course_.step_takes);
    if (++taken_ != course_.last) return;
    course_.at_last.set_value();
    course_.closed.get_future().wait();
  }

  Course& course_;
  CourseClock& clock_;
  std::size_t taken_ = 0;
};

// How many steps each round had, if the thread is closed while it is at step `last`.
std::vector<std::size_t> steps_of_rounds(std::size_t last, Duration step_takes) {
  Course course;
  course.last = last;
  course.step_takes = step_takes;
  CourseClock clock;
  Metrics metrics;
  CountingClient client(course);
  {
    ComponentThread thread("busy", client, {.clock = clock, .metrics = metrics},
                           [&](const client::ComponentContext& /*context*/) {
                             return std::make_unique<Busy>(course, clock);
                           });
    course.at_last.get_future().wait();
    thread.close();
    course.closed.set_value();
  }
  return course.steps;
}

using Steps = std::vector<std::size_t>;

TEST(ComponentThread, ThatIsClosedEndsAfterTheStepItIsAt) {
  EXPECT_EQ(steps_of_rounds(1, {}), Steps{1});
  EXPECT_EQ(steps_of_rounds(7, {}), Steps{7});
}

TEST(ComponentThread, LooksAtWhatHasComeInAfterAHundredSteps) {
  EXPECT_EQ(steps_of_rounds(230, {}), (Steps{100, 100, 30}));
}

TEST(ComponentThread, LooksAtWhatHasComeInAfterAShortTime) {
  EXPECT_EQ(steps_of_rounds(10, std::chrono::milliseconds{5}), (Steps{4, 4, 2}));
  EXPECT_EQ(steps_of_rounds(3, std::chrono::seconds{2}), (Steps{1, 1, 1}));
}

// A kind with more events than any thread gets through, and the answers to as many calls.
class FloodingFeed final : public client::Feed {
 public:
  Poll poll(std::vector<client::Event>& out, std::size_t max) override {
    out.resize(max);
    return {.synced = false, .more = true};
  }
};

class FloodingClient final : public client::Client {
 public:
  void send(api::Request /*request*/, client::Done done) override {
    for (int i = 0; i < 1000; ++i) done(api::Answer{});
  }
  std::unique_ptr<client::Feed> watch(const api::Kind& /*kind*/,
                                      std::function<void()> /*wake*/) override {
    return std::make_unique<FloodingFeed>();
  }
};

// Everything it is given, and each step, takes it some time. Writes down what it does: o for an
// outcome, e for an event, s for a step.
class Slow final : public client::Component {
 public:
  Slow(Course& course, CourseClock& clock, std::string& done, const client::Send& send)
      : course_(course), clock_(clock), done_(done) {
    send({}, 1);
  }
  void apply(client::Input input, Time /*now*/) override {
    act(std::holds_alternative<client::Event>(input) ? 'e' : 'o');
  }
  std::size_t run_once(Time /*now*/, std::size_t /*limit*/) override {
    act('s');
    return 1;
  }
  std::optional<Time> next_deadline() const override { return std::nullopt; }
  std::vector<const api::Kind*> watched_kinds() const override { return {&api::kinds::pod()}; }

 private:
  void act(char what) {
    done_ += what;
    clock_.advance(course_.step_takes);
    if (done_.size() != course_.last) return;
    course_.at_last.set_value();
    course_.closed.get_future().wait();
  }

  Course& course_;
  CourseClock& clock_;
  std::string& done_;
};

// What it did, if the thread is closed while it does its `last` thing.
std::string done_under_a_flood(std::size_t last, Duration step_takes) {
  Course course;
  course.last = last;
  course.step_takes = step_takes;
  CourseClock clock;
  Metrics metrics;
  FloodingClient client;
  std::string done;
  {
    ComponentThread thread("slow", client, {.clock = clock, .metrics = metrics},
                           [&](const client::ComponentContext& context) {
                             return std::make_unique<Slow>(course, clock, done, context.send);
                           });
    course.at_last.get_future().wait();
    thread.close();
    course.closed.set_value();
  }
  return done;
}

TEST(ComponentThread, ThatIsClosedEndsAfterTheInputItIsAt) {
  EXPECT_EQ(done_under_a_flood(3, {}), "ooo");
  EXPECT_EQ(done_under_a_flood(1500, {}), std::string(1000, 'o') + std::string(500, 'e'));
}

TEST(ComponentThread, GivesOutcomesEventsAndWorkAShortTimeEach) {
  EXPECT_EQ(done_under_a_flood(26, std::chrono::milliseconds{5}), "ooooeeeessssooooeeeessssoo");
  EXPECT_EQ(done_under_a_flood(7, std::chrono::seconds{2}), "oesoeso");
}

}  // namespace
}  // namespace muster::app
