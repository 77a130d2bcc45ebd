#include "sim/world.h"

#include <algorithm>

#include "base/check.h"
#include "server/core/bootstrap/bootstrap.h"
#include "sim/pretend_storage.h"
#include "store/engines/memory.h"

namespace muster::sim {

namespace {

constexpr std::size_t kEventsPerPoll = 1000;
constexpr std::size_t kWorkPerStep = 100;

const components::Entry& scheduler_entry() {
  return *std::ranges::find(components::all(), components::kScheduler, &components::Entry::name);
}

}  // namespace

Stepper::Stepper(const server::Server& server, api::User user, Metrics& metrics, const Make& make,
                 std::optional<Feeds> disturbed)
    : client_(server, std::move(user)),
      disturbed_(disturbed ? std::optional<DisturbedClient>(
                                 std::in_place, client_, disturbed->disturbance, disturbed->entropy)
                           : std::nullopt),
      component_(make({.send =
                           [this](api::Request request, std::uint64_t ticket) {
                             client_.send(std::move(request),
                                          [this, ticket](client::Outcome outcome) {
                                            outcomes_.push_back({ticket, std::move(outcome)});
                                          });
                           },
                       .metrics = &metrics})),
      feeds_(disturbed_ ? static_cast<client::Client&>(*disturbed_) : client_, *component_, [] {}) {
}

bool Stepper::step(Time now) {
  const bool moved = deliver(now);
  return component_->run_once(now, kWorkPerStep) > 0 || moved;
}

bool Stepper::deliver(Time now) {
  bool moved = false;
  client::Feeds::Round round;
  do {
    if (feeds_held_) break;
    round = feeds_.poll(*component_, now, kEventsPerPoll);
    moved |= round.applied;
  } while (round.more);
  for (; !outcomes_.empty(); moved = true) {
    component_->apply(std::move(outcomes_.front()), now);
    outcomes_.pop_front();
  }
  return moved;
}

World::World(Options options)
    : now_(options.start),
      settings_{
          .ca_certificate = {}, .scheduler = std::move(options.scheduler), .jobs = options.jobs},
      asked_disturbances_{options.controller_feeds, options.scheduler_feeds},
      disturbances_(asked_disturbances_),
      entropy_(options.seed),
      feed_entropy_(options.seed),
      window_(options.window) {
  Result<std::unique_ptr<store::Store>> store = store::Store::open(store::make_memory_engine());
  CHECK(store);
  store_ = std::move(*store);
  window_.start(store_->compacted());
  store_->listen([this](std::span<const store::Change> changes) { window_.append(changes); });
  reader_ = std::make_unique<server::Reader>(*store_, window_, settings_.scheduler.gates);
  registry_ = std::make_unique<server::Registry>(
      *store_, entropy_, server::Registry::Validation::On, settings_.scheduler.gates);
  server::bootstrap(*registry_, *store_, now_);
  server_ = std::make_unique<server::Server>(
      *reader_, [this](api::Request& request, server::Reply& reply) {
        submitted_ = true;
        if (std::optional<Error> error = fault_ ? fault_(request) : std::nullopt)
          reply(fail(std::move(*error)));
        else
          registry_->submit(std::move(request), now_, std::move(reply));
        return true;
      });
  admin_client_ = std::make_unique<server::LoopbackClient>(
      *server_, api::User{"kubernetes-admin", {"system:masters", "system:authenticated"}});
  nodes_ = std::make_unique<Stepper>(
      *server_, PretendNodes::user(), metrics_, [&](client::ComponentContext context) {
        return std::make_unique<PretendNodes>(options.shape, std::move(context));
      });
  storage_ = std::make_unique<Stepper>(
      *server_, PretendStorage::user(), metrics_, [](client::ComponentContext context) {
        return std::make_unique<PretendStorage>(std::move(context));
      });
  restart_scheduler();
  restart_controllers();
}

World::~World() = default;

std::unique_ptr<Stepper> World::make_stepper(const components::Entry& entry) {
  const auto of =
      entry.name == components::kScheduler ? &Disturbances::scheduler : &Disturbances::controllers;
  std::optional<Stepper::Feeds> disturbed;
  if (asked_disturbances_.*of != Disturbance{})
    disturbed.emplace(Stepper::Feeds{disturbances_.*of, feed_entropy_});
  return std::make_unique<Stepper>(
      *server_, entry.user, metrics_,
      [&](client::ComponentContext context) { return entry.make(settings_, std::move(context)); },
      disturbed);
}

void World::restart_scheduler() {
  scheduler_ = nullptr;
  scheduler_ = make_stepper(scheduler_entry());
}

void World::restart_controllers() {
  registry_->flush();  // who asked for it must still be there to be answered
  controllers_.clear();
  for (const components::Entry& entry : components::all())
    if (entry.name != components::kScheduler) controllers_.push_back(make_stepper(entry));
}

void World::hold_controller_feeds(bool held) {
  for (const auto& controller : controllers_) controller->hold_feeds(held);
}

void World::calm_feeds(bool calm) { disturbances_ = calm ? Disturbances{} : asked_disturbances_; }

void World::restart_components_with(const api::Gates& gates) {
  run_until_idle();
  settings_.scheduler.gates = gates;
  restart_scheduler();
  restart_controllers();
}

void World::forget_history() {
  const api::Revision newest = store_->revision();
  for (Result<api::Revision> done = store_->compact(newest); done && *done < newest;)
    done = store_->compact(newest);
}

const scheduler::Scheduler& World::scheduler() const {
  return static_cast<const scheduler::Scheduler&>(scheduler_->component());
}

void World::add_nodes(const ClusterShape& shape) {
  static_cast<PretendNodes&>(nodes_->component()).add(shape);
}

void World::run_until_idle() {
  bool moved = true;
  while (moved) {
    moved = std::exchange(submitted_, false);
    registry_->flush();
    moved |= nodes_->step(now_);
    moved |= storage_->step(now_);
    moved |= held_ ? scheduler_->deliver(now_) : scheduler_->step(now_);
    for (const auto& controller : controllers_) moved |= controller->step(now_);
    moved |= submitted_;
  }
}

void World::advance(Duration duration) {
  const Time end = now_ + duration;
  run_until_idle();
  for (std::optional<Time> next = next_deadline(); next && *next <= end; next = next_deadline()) {
    now_ = std::max(now_, *next);
    run_until_idle();
  }
  now_ = end;
  run_until_idle();
}

std::optional<Time> World::next_deadline() const {
  std::optional<Time> earliest;
  const auto offer = [&](const Stepper& stepper) {
    const std::optional<Time> deadline = stepper.component().next_deadline();
    if (deadline && (!earliest || *deadline < *earliest)) earliest = deadline;
  };
  if (!held_) offer(*scheduler_);
  offer(*nodes_);
  offer(*storage_);
  for (const auto& controller : controllers_) offer(*controller);
  return earliest;
}

Result<api::Answer> World::ask(api::Request request) {
  std::optional<Result<api::Answer>> answer;
  admin_client_->send(std::move(request),
                      [&](client::Outcome outcome) { answer = std::move(outcome); });
  if (!answer) registry_->flush();
  CHECK(answer.has_value());
  run_until_idle();
  return std::move(*answer);
}

api::ObjectPtr World::get(const api::Kind& kind, std::string_view name_space,
                          std::string_view name) const {
  return store_->get(store::make_key(kind, name_space, name));
}

std::vector<api::ObjectPtr> World::list(const api::Kind& kind, std::string_view name_space) {
  api::Request request;
  request.verb = api::Verb::List;
  request.kind = &kind;
  request.version = kind.stored_version;
  request.name_space = name_space;
  Result<api::Answer> answer = ask(std::move(request));
  CHECK(answer);
  return std::move(std::get<api::ListAnswer>(answer->what).items);
}

}  // namespace muster::sim
