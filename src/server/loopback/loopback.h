#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/request.h"
#include "client/client.h"
#include "server/core/request/request_meter.h"
#include "server/core/server.h"

namespace muster::server {

// The in-process way into the core: the same requests, the same answers, and the very same Object
// pointers the server stored; nothing is encoded.
class LoopbackClient final : public client::Client {
 public:
  // `user` is who the component is, e.g. system:kube-scheduler.
  // `meter` may be null; it counts the requests like those that arrive over HTTP.
  LoopbackClient(const Server& server, api::User user,
                 std::shared_ptr<RequestMeter> meter = nullptr)
      : server_(server), user_(std::move(user)), meter_(std::move(meter)) {}

  void send(api::Request request, client::Done done) override;
  std::unique_ptr<client::Feed> watch(const api::Kind& kind, std::function<void()> wake) override;

 private:
  const Server& server_;
  api::User user_;
  const std::shared_ptr<RequestMeter> meter_;
};

}  // namespace muster::server
