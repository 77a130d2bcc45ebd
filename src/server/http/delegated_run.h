#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "server/http/request_pipeline.h"
#include "server/http/work_pool.h"

namespace muster::server {

// A request whose RequestPipeline::run() may take long, on its way to the pool and back. Meanwhile
// it holds what the connection gave away: the request and the exchange.
struct DelegatedRun {
  // What the pipeline does: run() a request, resume() a read that has waited for its revision,
  // read_again() for a list that has waited for its place, or respond() with an answer of the core.
  enum class Does : std::uint8_t { Run, Resume, Reread, Respond };
  Does does = Does::Run;
  std::optional<Result<api::Answer>> answer = std::nullopt;  // of the core, to respond with
  HttpRequest request = {};
  Exchange exchange = {};
  Hold bytes = {};  // the body or the answer on the way there, the response's on the way back
  RequestPipeline::Outcome outcome = {};
  std::size_t waits_for_place = 0;                      // among long lists: with how many bytes
  std::optional<std::string> exception = std::nullopt;  // what run() threw
};

// Has the pool do `run`, a step at a time; it comes back through Recipient::on_outcome(). An answer
// of the core may arrive before that.
void delegate(std::shared_ptr<DelegatedRun> run, const RequestPipeline& pipeline, WorkPool& pool,
              const ReturnAddress& from);

// Has the pool count groups if a watch had to show some without.
void catch_up_if_asked(const RequestPipeline& pipeline, WorkPool& pool, const AccountPtr& whose);

}  // namespace muster::server
