#include "server/http/delegated_run.h"

#include <exception>
#include <utility>

namespace muster::server {

namespace {

RequestPipeline::Outcome outcome_of(DelegatedRun& run, const RequestPipeline& pipeline,
                                    const ReturnAddress& from) {
  switch (run.does) {
    case DelegatedRun::Does::Run: return pipeline.run(run.request, run.exchange, from);
    case DelegatedRun::Does::Resume: return pipeline.resume(run.exchange, from, SteadyClock::now());
    case DelegatedRun::Does::Respond: break;
  }
  return pipeline.respond(run.exchange, run.answer.value(), from);
}

}  // namespace

void delegate(std::shared_ptr<DelegatedRun> run, const RequestPipeline& pipeline, WorkPool& pool,
              const ReturnAddress& from) {
  const AccountPtr whose = run->exchange.account;
  pool.run(whose, [run = std::move(run), &pipeline, from] {
    if (from.recipient.expired()) return;  // the client has left
    try {
      run->outcome = outcome_of(*run, pipeline, from);
    } catch (const std::exception& exception) {
      run->exception = exception.what();
    }
    give_back(run->request.body);
    const auto* response = std::get_if<HttpResponse>(&run->outcome);
    run->bytes.resize(response != nullptr ? response->body.size() : 0);
    from.inbox->put_outcome(from.recipient, run);
  });
}

}  // namespace muster::server
