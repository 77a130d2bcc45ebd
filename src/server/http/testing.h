#pragma once

#include <charconv>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/entropy.h"
#include "base/mailbox.h"
#include "base/time.h"
#include "server/access/escalation.h"
#include "server/core/bootstrap/bootstrap.h"
#include "server/core/read/reader.h"
#include "server/core/server.h"
#include "server/core/write/registry.h"
#include "server/http/certificates.h"
#include "server/http/listener.h"
#include "server/http/testing_wire.h"
#include "store/engines/memory.h"
#include "store/store.h"
#include "watch/window.h"

// For tests only: a whole server in this process.
namespace muster::server::testing {

// Server core over a memory store, with the one thread that writes.
class Core {
 public:
  explicit Core(watch::Limits limits, const api::Gates& gates = {})
      : store_(store::Store::open(store::make_memory_engine()).value()), window_(limits) {
    window_.start(store_->compacted());
    store_->listen([this](std::span<const store::Change> changes) { window_.append(changes); });
    access_ =
        std::make_unique<Access>(*store_, TokenKey::read(TokenKey::make_pem().value()).value());
    reader_ = std::make_unique<Reader>(*store_, window_, gates);
    registry_ = std::make_unique<Registry>(*store_, entropy_, Registry::Validation::On, gates);
    registry_->guard_roles([this](const auto& request, const auto& document, const auto* old) {
      return check_escalation(access_->authorizer(), request, document, old);
    });
    bootstrap(*registry_, *store_, clock_.now());
    thread_ = std::thread([this] { run(); });
    server_ = std::make_unique<Server>(*reader_, [this](api::Request& request, Reply& reply) {
      return mailbox_.try_push(std::move(request), std::move(reply));
    });
  }
  ~Core() {
    mailbox_.close();
    thread_.join();
  }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  const Server& server() const { return *server_; }
  const Access& access() const { return *access_; }
  const Clock& clock() const { return clock_; }

 private:
  struct Message {
    api::Request request;
    Reply reply;
  };
  void run() {
    std::vector<Message> messages;
    while (mailbox_.pop_all(messages)) {
      for (Message& message : messages)
        registry_->submit(std::move(message.request), clock_.now(), std::move(message.reply));
      registry_->flush();
    }
  }

  SystemClock clock_;
  SystemEntropy entropy_;
  std::unique_ptr<store::Store> store_;
  watch::Window window_;
  std::unique_ptr<Access> access_;
  std::unique_ptr<Reader> reader_;
  std::unique_ptr<Registry> registry_;
  Mailbox<Message> mailbox_{10'000};
  std::thread thread_;
  std::unique_ptr<Server> server_;
};

// A core behind a listener on a free port, and the credentials of those who may talk to it.
class Site : public Endpoint {
 public:
  explicit Site(ListenOptions options = {}, watch::Limits limits = {}, const api::Gates& gates = {})
      : core_(limits, gates) {
    const Time now = core_.clock().now();
    authority = make_authority("kubernetes-ca", now).value();
    const Credential serving =
        make_serving_certificate(authority, {.dns = {"localhost"}, .addresses = {"127.0.0.1"}}, now)
            .value();
    admin = make_client_certificate(authority,
                                    {.user = "kubernetes-admin", .groups = {"system:masters"}}, now)
                .value();
    options.port = 0;
    options.ca_certificate = authority.certificate;
    options.certificate = serving.certificate;
    options.private_key = serving.private_key;
    listener_ = Listener::start(options, core_.server(), core_.access(), core_.clock()).value();
    const std::string address = listener_->address();
    std::from_chars(address.data() + address.rfind(':') + 1, address.data() + address.size(), port);
  }

  const Core& core() const { return core_; }
  const ClientLedger& ledger() const { return listener_->ledger(); }
  void stop() { listener_.reset(); }

 private:
  Core core_;
  std::unique_ptr<Listener> listener_;
};

}  // namespace muster::server::testing
