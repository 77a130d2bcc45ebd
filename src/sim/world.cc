#include "sim/world.h"

#include <algorithm>

#include "base/check.h"
#include "server/core/bootstrap/bootstrap.h"
#include "server/core/bootstrap/bootstrap_roles.h"
#include "store/engines/memory.h"

namespace muster::sim {

World::World(Options options)
    : now_(options.start), scheduler_options_(options.scheduler), entropy_(options.seed) {
  Result<std::unique_ptr<store::Store>> store = store::Store::open(store::make_memory_engine());
  CHECK(store);
  store_ = std::move(*store);
  window_.start(store_->compacted());
  store_->listen([this](std::span<const store::Change> changes) { window_.append(changes); });
  reader_ = std::make_unique<server::Reader>(*store_, window_, options.scheduler.gates);
  registry_ = std::make_unique<server::Registry>(
      *store_, entropy_, server::Registry::Validation::On, options.scheduler.gates);
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
  const auto client = [this](std::string name, std::vector<std::string> groups) {
    return std::make_unique<server::LoopbackClient>(*server_,
                                                    api::User{std::move(name), std::move(groups)});
  };
  scheduler_client_ = client("system:kube-scheduler", {"system:authenticated"});
  nodes_client_ = client("system:node:pretend", {"system:nodes", "system:authenticated"});
  admin_client_ = client("kubernetes-admin", {"system:masters", "system:authenticated"});
  restart_scheduler();
  nodes_ = std::make_unique<Stepper<PretendNodes>>(*nodes_client_, [&](client::Send send) {
    return std::make_unique<PretendNodes>(std::move(options.shape), std::move(send));
  });
  controllers_client_ = client("system:kube-controller-manager", {"system:authenticated"});
  pod_group_protection_ = std::make_unique<Stepper<controllers::PodGroupProtection>>(
      *controllers_client_, [](client::Send send) {
        return std::make_unique<controllers::PodGroupProtection>(std::move(send));
      });
  composite_protection_ = std::make_unique<Stepper<controllers::CompositeProtection>>(
      *controllers_client_, [](client::Send send) {
        return std::make_unique<controllers::CompositeProtection>(std::move(send));
      });
  garbage_collector_ = std::make_unique<Stepper<controllers::GarbageCollector>>(
      *controllers_client_, [](client::Send send) {
        return std::make_unique<controllers::GarbageCollector>(std::move(send));
      });
  namespace_defaults_ = std::make_unique<Stepper<controllers::NamespaceDefaults>>(
      *controllers_client_, [](client::Send send) {
        return std::make_unique<controllers::NamespaceDefaults>("", std::move(send));
      });
  disruption_ = std::make_unique<Stepper<controllers::Disruption>>(
      *controllers_client_,
      [](client::Send send) { return std::make_unique<controllers::Disruption>(std::move(send)); });
  pod_garbage_ = std::make_unique<Stepper<controllers::PodGarbage>>(
      *controllers_client_,
      [](client::Send send) { return std::make_unique<controllers::PodGarbage>(std::move(send)); });
  aggregation_client_ =
      std::make_unique<server::LoopbackClient>(*server_, server::role_aggregator());
  role_aggregation_ = std::make_unique<Stepper<controllers::RoleAggregation>>(
      *aggregation_client_, [](client::Send send) {
        return std::make_unique<controllers::RoleAggregation>(std::move(send));
      });
}

World::~World() = default;

void World::restart_scheduler() {
  scheduler_ = nullptr;
  scheduler_ =
      std::make_unique<Stepper<scheduler::Scheduler>>(*scheduler_client_, [&](client::Send send) {
        return std::make_unique<scheduler::Scheduler>(scheduler_options_, std::move(send));
      });
}

const scheduler::Scheduler& World::scheduler() const { return scheduler_->component(); }

void World::settle() {
  bool moved = true;
  while (moved) {
    moved = std::exchange(submitted_, false);
    registry_->flush();
    moved |= nodes_->step(now_);
    moved |= held_ ? scheduler_->take_in(now_) : scheduler_->step(now_);
    moved |= pod_group_protection_->step(now_);
    moved |= composite_protection_->step(now_);
    moved |= garbage_collector_->step(now_);
    moved |= namespace_defaults_->step(now_);
    moved |= disruption_->step(now_);
    moved |= pod_garbage_->step(now_);
    moved |= role_aggregation_->step(now_);
  }
}

void World::advance(Duration duration) {
  const Time end = now_ + duration;
  settle();
  for (std::optional<Time> next = next_deadline(); next && *next <= end; next = next_deadline()) {
    now_ = std::max(now_, *next);
    settle();
  }
  now_ = end;
  settle();
}

std::optional<Time> World::next_deadline() const {
  std::optional<Time> earliest;
  const std::optional<Time> scheduler =
      held_ ? std::nullopt : scheduler_->component().next_deadline();
  for (const std::optional<Time>& deadline :
       {scheduler, nodes_->component().next_deadline(),
        pod_group_protection_->component().next_deadline(),
        composite_protection_->component().next_deadline(),
        garbage_collector_->component().next_deadline(),
        namespace_defaults_->component().next_deadline(), disruption_->component().next_deadline(),
        pod_garbage_->component().next_deadline(), role_aggregation_->component().next_deadline()})
    if (deadline && (!earliest || *deadline < *earliest)) earliest = deadline;
  return earliest;
}

Result<api::Answer> World::ask(api::Request request) {
  std::optional<Result<api::Answer>> answer;
  admin_client_->send(std::move(request),
                      [&](client::Outcome outcome) { answer = std::move(outcome); });
  if (!answer) registry_->flush();
  CHECK(answer.has_value());
  settle();
  return std::move(*answer);
}

api::ObjectPtr World::get(const api::Kind& kind, std::string_view name_space,
                          std::string_view name) const {
  return store_->get(store::make_key(kind, name_space, name));
}

}  // namespace muster::sim
