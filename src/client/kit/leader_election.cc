#include "client/kit/leader_election.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "api/kinds/kind.h"
#include "base/log.h"

namespace muster::client {
namespace {

using api::JsonObject;

constexpr int kJitterPercent = 120;

// What we read of a Lease.
struct Claim {
  std::string holder;
  Duration duration{};
  std::int64_t transitions = 0;
};

std::int64_t number_at(const api::Json& spec, std::string_view member) {
  const api::Json* const found = api::find(spec, member);
  return found != nullptr && found->is_int64() ? found->get_int64() : 0;
}

Claim claim_of(const api::Object& lease) {
  const api::Json document = lease.document();
  const api::Json* const spec = api::find(document, "spec");
  if (spec == nullptr) return {};
  return {.holder = std::string(api::find_string(*spec, "holderIdentity")),
          .duration = std::chrono::seconds{number_at(*spec, "leaseDurationSeconds")},
          .transitions = number_at(*spec, "leaseTransitions")};
}

std::int64_t seconds_of(Duration duration) {
  return std::chrono::ceil<std::chrono::seconds>(duration).count();
}

api::ObjectPtr object_in(const Outcome& outcome) {
  const auto* const answer = std::get_if<api::ObjectAnswer>(&outcome->what);
  return answer == nullptr ? nullptr : answer->object;
}

}  // namespace

LeaderElection::LeaderElection(Options options, ComponentContext context, Entropy& entropy,
                               std::shared_ptr<Leadership> leadership,
                               std::function<void()> on_lead)
    : options_(std::move(options)),
      calls_(std::move(context.send), context.metrics, context.host),
      entropy_(entropy),
      leadership_(std::move(leadership)),
      on_lead_(std::move(on_lead)) {}

void LeaderElection::apply(Input input, Time now) {
  if (const auto* called = std::get_if<Called>(&input))
    calls_.complete(called->ticket, called->outcome, now);
}

std::size_t LeaderElection::run_once(Time now, std::size_t /*limit*/) {
  if (state_ == State::Leading && now - renewed_ >= options_.renew_deadline)
    end("the lease could not be renewed in time");
  if (state_ == State::Ended || under_way_) return 0;
  if (leadership_->asked_to_end_) {
    if (state_ == State::Leading)
      release();
    else
      end("it was given up");
    return 1;
  }
  if (now < due_) return 0;
  if (state_ == State::Leading)
    renew(now);
  else
    read(now);
  return 1;
}

std::optional<Time> LeaderElection::next_deadline() const {
  if (state_ == State::Ended) return std::nullopt;
  if (state_ == State::Leading && under_way_) return renewed_ + options_.renew_deadline;
  return under_way_ ? std::nullopt : std::optional(due_);
}

// Between once and 2.2 times the period, so that candidates do not ask in step.
Time LeaderElection::retry_time(Time now) {
  const auto percent = static_cast<std::int64_t>(entropy_.below(kJitterPercent));
  return now + options_.retry_period + options_.retry_period * percent / 100;
}

// About the lease, which may not exist.
api::Request LeaderElection::request(api::Verb verb) const {
  api::Request request;
  request.verb = verb;
  request.kind = &api::kinds::lease();
  request.version = request.kind->stored_version;
  request.name_space = options_.name_space;
  request.name = options_.name;
  return request;
}

void LeaderElection::read(Time now) {
  under_way_ = true;
  due_ = retry_time(now);
  calls_.send(request(api::Verb::Get),
              [this](const Outcome& outcome, Time later) { on_read(outcome, later); });
}

void LeaderElection::on_read(const Outcome& outcome, Time now) {
  under_way_ = false;
  if (state_ == State::Ended) return;
  if (!outcome) {
    if (outcome.error().reason == Reason::NotFound && state_ == State::Seeking) return create(now);
    if (outcome.error().reason == Reason::NotFound) return end("the lease was deleted");
    log(LogLevel::Warning, "the lease {}/{} cannot be read: {}", options_.name_space, options_.name,
        outcome.error().message);
    return;
  }
  const api::ObjectPtr lease = object_in(outcome);
  if (lease == nullptr) return;
  observe(lease, now);
  const Claim claim = claim_of(*lease);
  const bool is_ours = claim.holder == options_.identity;
  if (state_ == State::Leading) {  // somebody wrote it since: a label, or their name
    if (!is_ours) return end("somebody else holds the lease: " + claim.holder);
    return releasing_ ? release() : renew(now);
  }
  if (!claim.holder.empty() && !is_ours && now < observed_ + claim.duration) return;
  acquire(now);
}

// Only that it changed counts, and when we saw it: clocks of two machines are never compared.
void LeaderElection::observe(const api::ObjectPtr& lease, Time now) {
  if (lease_ == nullptr || lease_->revision() != lease->revision() ||
      lease_->meta().uid != lease->meta().uid)
    observed_ = now;
  lease_ = lease;
}

void LeaderElection::create(Time now) {
  JsonObject spec{{"holderIdentity", options_.identity},
                  {"leaseDurationSeconds", seconds_of(options_.lease_duration)},
                  {"acquireTime", format_micro_time(now)},
                  {"renewTime", format_micro_time(now)},
                  {"leaseTransitions", 0}};
  under_way_ = true;
  calls_.send(
      create_request(
          api::kinds::lease(), options_.name_space,
          JsonObject{{"metadata", JsonObject{{"name", options_.name}}}, {"spec", std::move(spec)}}),
      [this, sent = now](const Outcome& outcome, Time later) { on_written(outcome, sent, later); });
}

api::Request LeaderElection::update(const JsonObject& spec) const {
  api::Request put = request(api::Verb::Update);
  put.body = lease_->document();
  JsonObject& lease = put.body.as_object();
  lease["metadata"].as_object()["resourceVersion"] = std::to_string(lease_->revision().value);
  if (!lease["spec"].is_object()) lease["spec"] = JsonObject();
  for (const auto& [member, value] : spec) lease["spec"].as_object()[member] = value;
  return put;
}

void LeaderElection::acquire(Time now) {
  const Claim claim = claim_of(*lease_);
  const bool changes = claim.holder != options_.identity;
  under_way_ = true;
  calls_.send(
      update({{"holderIdentity", options_.identity},
              {"leaseDurationSeconds", seconds_of(options_.lease_duration)},
              {"acquireTime", format_micro_time(now)},
              {"renewTime", format_micro_time(now)},
              {"leaseTransitions", claim.transitions + (changes ? 1 : 0)}}),
      [this, sent = now](const Outcome& outcome, Time later) { on_written(outcome, sent, later); });
}

void LeaderElection::renew(Time now) {
  under_way_ = true;
  calls_.send(
      update({{"renewTime", format_micro_time(now)}}),
      [this, sent = now](const Outcome& outcome, Time later) { on_written(outcome, sent, later); });
}

// The next leader need not wait: an empty name and the shortest duration.
void LeaderElection::release() {
  leadership_->until_ = 0;
  releasing_ = true;
  under_way_ = true;
  calls_.send(update({{"holderIdentity", ""}, {"leaseDurationSeconds", 1}}),
              [this](const Outcome& outcome, Time now) {
                under_way_ = false;
                if (!outcome && outcome.error().reason == Reason::Conflict) return read(now);
                end(outcome ? "it was handed over" : outcome.error().message);
              });
}

void LeaderElection::on_written(const Outcome& outcome, Time sent, Time now) {
  under_way_ = false;
  if (state_ == State::Ended) return;
  if (!outcome) {
    const bool lost_race = outcome.error().reason == Reason::Conflict ||
                           outcome.error().reason == Reason::AlreadyExists ||
                           outcome.error().reason == Reason::NotFound;
    if (state_ == State::Leading && lost_race) return read(now);
    due_ = state_ == State::Leading ? now + options_.retry_period : retry_time(now);
    if (!lost_race)
      log(LogLevel::Warning, "the lease {}/{} cannot be written: {}", options_.name_space,
          options_.name, outcome.error().message);
    return;
  }
  if (const api::ObjectPtr lease = object_in(outcome)) observe(lease, now);
  renewed_ = sent;
  due_ = sent + options_.retry_period;
  leadership_->until_ = (sent + options_.renew_deadline).time_since_epoch().count();
  if (state_ == State::Leading) return;
  state_ = State::Leading;
  log(LogLevel::Info, "leading by lease {}/{} as {}", options_.name_space, options_.name,
      options_.identity);
  on_lead_();
}

void LeaderElection::end(std::string_view why) {
  state_ = State::Ended;
  leadership_->until_ = 0;
  leadership_->ended_ = true;
  log(LogLevel::Info, "not leading any more: {}", why);
}

}  // namespace muster::client
