#include "server/http/delegated_run.h"

#include <exception>
#include <memory>
#include <utility>
#include <variant>

namespace muster::server {

namespace {

RequestPipeline::Outcome outcome_of(DelegatedRun& run, const RequestPipeline& pipeline,
                                    const ReturnAddress& from) {
  switch (run.does) {
    case DelegatedRun::Does::Run: return pipeline.run(run.request, run.exchange, from);
    case DelegatedRun::Does::Resume: return pipeline.resume(run.exchange, from, SteadyClock::now());
    case DelegatedRun::Does::Reread: return pipeline.read_again(run.exchange, from);
    case DelegatedRun::Does::Respond: break;
  }
  return pipeline.respond(run.exchange, run.answer.value(), from);
}

using Reading = RequestPipeline::Reading;
using ListPtr = std::unique_ptr<ListResponse>;

// Runs what is not yet run. False: what it needs is not there yet.
bool begin(DelegatedRun& run, const RequestPipeline& pipeline, const ReturnAddress& from) {
  if (std::holds_alternative<Reading>(run.outcome) || std::holds_alternative<ListPtr>(run.outcome))
    return true;
  if (run.waits_for_place > 0 && !pipeline.may_begin_long(run.exchange, run.waits_for_place))
    return false;
  if (!pipeline.catch_up(run.exchange)) return false;
  run.waits_for_place = 0;
  run.outcome = outcome_of(run, pipeline, from);
  return true;
}

// Looks for the objects of a list. False: there are more to look at, or it is a long list and has
// to wait for a place. What it has found would keep too much meanwhile: it is read again then.
bool look_on(DelegatedRun& run, const RequestPipeline& pipeline, const ReturnAddress& from) {
  auto* const reading = std::get_if<Reading>(&run.outcome);
  if (reading == nullptr) return true;
  auto next = pipeline.go_on(run.exchange, *reading, from);
  if (!next) return false;
  run.outcome = *std::move(next);
  auto* const list = std::get_if<ListPtr>(&run.outcome);
  if (list == nullptr || pipeline.hold_place(run.exchange, **list)) return true;
  run.waits_for_place = (*list)->bytes_of_objects();
  run.does = DelegatedRun::Does::Reread;
  run.outcome = RequestPipeline::Waiting{};
  return false;
}

// What can be done before others have their turn. False: there is more to do.
bool work_on(DelegatedRun& run, const RequestPipeline& pipeline, const ReturnAddress& from) {
  if (!begin(run, pipeline, from) || !look_on(run, pipeline, from)) return false;
  auto* const list = std::get_if<ListPtr>(&run.outcome);
  if (list == nullptr) return true;
  auto response = pipeline.go_on(run.exchange, **list);
  if (!response) return false;
  run.bytes.resize(response->body.size());  // before the list lets go of it
  run.outcome = *std::move(response);
  return true;
}

}  // namespace

void delegate(std::shared_ptr<DelegatedRun> run, const RequestPipeline& pipeline, WorkPool& pool,
              const ReturnAddress& from) {
  const AccountPtr whose = run->exchange.account;
  pool.run_in_steps(whose, [run = std::move(run), &pipeline, from] {
    if (from.recipient.expired()) return true;  // the client has left
    try {
      if (!work_on(*run, pipeline, from)) return false;
    } catch (const std::exception& exception) {
      run->exception = exception.what();
    }
    free_memory(run->request.body);
    const auto* response = std::get_if<HttpResponse>(&run->outcome);
    run->bytes.resize(response != nullptr ? response->body.size() : 0);
    from.inbox->put_outcome(from.recipient, run);
    return true;
  });
}

void catch_up_if_asked(const RequestPipeline& pipeline, WorkPool& pool, const AccountPtr& whose) {
  if (!pipeline.wants_to_catch_up()) return;
  pool.run_in_steps(whose, [&pipeline] { return pipeline.catch_up(); });
}

}  // namespace muster::server
