#include "app/explain_service.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/kinds/kind.h"
#include "api/reading.h"
#include "base/thread_name.h"
#include "explain/explain.h"
#include "explain/objects.h"
#include "explain/render.h"
#include "explain/roots.h"
#include "scheduler/volumes/volume_book.h"

namespace muster::app {
namespace {

// Beyond so many users, those whose turns are all there again are forgotten.
constexpr std::size_t kUsersMax = 10'000;

explain::Objects read_store(const store::Store& store, Time now) {
  explain::Objects objects;
  const auto add = [&](const api::Kind& kind, std::vector<api::ObjectPtr>& into) {
    std::ranges::move(store.list(kind.store_prefix + "/").objects, std::back_inserter(into));
  };
  add(api::kinds::node(), objects.nodes);
  add(api::kinds::pod(), objects.pods);
  add(api::kinds::pod_group(), objects.groups);
  add(api::kinds::composite_pod_group(), objects.groups);
  add(api::kinds::workload(), objects.workloads);
  add(api::kinds::name_space(), objects.namespaces);
  for (const api::Kind* kind : scheduler::VolumeBook::kinds()) add(*kind, objects.storage);
  objects.read_at = now;
  return objects;
}

// Rights are those on one group: the others of its owner come with it, not those of another.
Result<explain::Subject> subject_of(const api::Request& request, const explain::Objects& objects) {
  using scheduler::GroupKey;
  using scheduler::GroupKind;
  if (request.kind == &api::kinds::pod()) return explain::PodKey{request.name_space, request.name};
  GroupKey group{
      request.kind == &api::kinds::pod_group() ? GroupKind::PodGroup : GroupKind::CompositePodGroup,
      request.name_space, request.name};
  const api::Json& said = api::part_of(api::part_of(request.body, "spec"), "owner");
  if (!said.is_object()) return group;
  explain::WorkloadOwner owner{.group = std::string(api::find_string(said, "apiGroup")),
                               .kind = std::string(api::find_string(said, "kind")),
                               .name_space = request.name_space,
                               .name = std::string(api::find_string(said, "name"))};
  const std::vector<GroupKey> groups = TRY(explain::root_groups(objects, owner));
  if (std::ranges::find(groups, group) == groups.end())
    return fail(Reason::BadRequest, "{} {} is not one of the topmost groups of {} {}",
                request.kind->kind, request.name, owner.kind, owner.name);
  return owner;
}

Error too_many(std::string_view why) {
  Error error = make_error(Reason::TooManyRequests, "{}", why);
  error.retry_after_s = 1;
  return error;
}

Error stopping() { return make_error(Reason::ServiceUnavailable, "the server is stopping"); }

}  // namespace

ExplainService::ExplainService(const store::Store& store, const Clock& clock, Deciding deciding,
                               MayRead may_read)
    : store_(store),
      clock_(clock),
      deciding_(std::move(deciding)),
      may_read_(std::move(may_read)),
      thread_([this] { run(); }) {}

ExplainService::~ExplainService() {
  close();
  thread_.join();
}

void ExplainService::close() {
  closed_ = true;
  mailbox_.close();
}

bool ExplainService::may_ask(const std::string& user) {
  const Time now = clock_.now();
  const std::lock_guard lock(mutex_);
  if (full_again_.size() >= kUsersMax)
    std::erase_if(full_again_, [&](const auto& entry) { return entry.second <= now; });
  if (full_again_.size() >= kUsersMax && !full_again_.contains(user)) return false;
  Time& full = full_again_[user];
  const Time next = std::max(full, now) + kRefill;
  if (next > now + kBurst * kRefill) return false;
  full = next;
  return true;
}

void ExplainService::post(api::Request& request, server::Reply& reply) {
  if (!may_ask(request.user.name))
    return reply(fail(too_many("you ask for explanations too often, please try again later")));
  Question question{std::move(request), std::move(reply)};
  if (!mailbox_.try_push(std::move(question)))  // untouched if it does not fit
    // NOLINTNEXTLINE(bugprone-use-after-move)
    question.reply(fail(too_many("too many explanations are asked for, please try again later")));
}

void ExplainService::run() {
  name_this_thread("explain");
  std::vector<Question> questions;
  while (mailbox_.pop_all(questions))
    for (const Question& question : questions)
      question.reply(closed_ ? Result<api::Answer>(fail(stopping())) : answer(question.request));
}

Result<api::Answer> ExplainService::answer(const api::Request& request) const {
  std::map<std::string, bool, std::less<>> known;
  explain::ExplainOptions options;
  options.gates = deciding_.gates;
  options.attempts_max = 1'000;
  options.steps_max = 500'000;
  options.is_unwanted = [this] { return closed_.load(); };
  options.may_name = [&](std::string_view name_space) {
    const auto at = known.find(name_space);
    if (at != known.end()) return at->second;
    return known.emplace(name_space, may_read_(request.user, name_space)).first->second;
  };
  const explain::Objects objects = read_store(store_, clock_.now());
  const explain::Subject subject = TRY(subject_of(request, objects));
  const explain::Explanation about =
      TRY(explain::explain(objects, subject, deciding_.profiles, options));
  if (closed_) return fail(stopping());
  api::JsonObject status = explain::explanation_json(about);
  status["text"] = explain::render_text(about);
  return api::Answer{
      .what =
          api::DocumentAnswer{
              .document =
                  api::JsonObject{{"kind", "Explanation"},
                                  {"apiVersion", "scheduling.muster.dev/v1alpha1"},
                                  {"metadata", api::JsonObject{{"name", request.name},
                                                               {"namespace", request.name_space}}},
                                  {"status", std::move(status)}},
              .code = 201},
      .warnings = {}};
}

}  // namespace muster::app
