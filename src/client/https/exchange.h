#pragma once

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "client/https/call.h"
#include "client/kubeconfig.h"

// libcurl's handles, set up for one API server: shared by the client that blocks and the one that
// has many requests under way.
namespace muster::client {

struct HttpsOptions {
  long connect_timeout_ms = 10'000;
  long timeout_ms = 60'000;  // for one call, its answer included; streams say theirs themselves
  std::string user_agent = "muster";
  bool own_http2 = true;  // false: libcurl carries all requests
  // Tokens and certificates in files are read at the first use, and again after this long.
  std::chrono::milliseconds reread_after = std::chrono::seconds{60};
};

// The authorities we trust and who we are in TLS: PEM, empty if there is none.
struct TlsTexts {
  std::string authority;
  std::string certificate;
  std::string key;
  bool operator==(const TlsTexts&) const = default;
};

struct HeaderListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, HeaderListDeleter>;

// Fails only if the TLS library cannot be set up. Any thread, any number of times.
Result<void> set_up_curl();

// One API server and who we are to it. Any thread; must outlive its exchanges.
class Endpoint {
 public:
  Endpoint(Kubeconfig config, HttpsOptions options);
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  const Kubeconfig& config() const { return config_; }
  const HttpsOptions& options() const { return options_; }
  // Sets what is the same for every call.
  void set_up(CURL* handle);
  // The current ones. Different ones need connections of their own.
  std::shared_ptr<const TlsTexts> tls_texts();
  std::string url(const HttpCall& call) const { return server_ + call.target; }
  // "host:port" and the path before every target, as the requests name them.
  std::string_view authority() const;
  std::string_view path_prefix() const;
  HeaderList headers(const HttpCall& call);
  // The user we act as, in headers that every request has.
  std::vector<std::pair<std::string_view, std::string_view>> identity_headers() const;
  // Who we are by a token; empty: not by one.
  std::string token();
  // The error that says why the server could not be asked.
  Error unasked(CURLcode code, std::string_view why) const;

 private:
  using Steady = std::chrono::steady_clock;

  // The files may be newer than the configuration: they are read first.
  bool is_due(const std::optional<Steady::time_point>& last_read) const {
    return !last_read || Steady::now() - *last_read >= options_.reread_after;
  }

  const Kubeconfig config_;
  const HttpsOptions options_;
  std::string server_;
  HeaderList connect_to_;
  std::mutex mutex_;
  // Under mutex_:
  std::string token_;
  std::optional<Steady::time_point> token_read_;
  std::shared_ptr<const TlsTexts> tls_texts_;
  std::optional<Steady::time_point> tls_texts_read_;
};

// Makes the handle use these; they must stay alive while it is in use.
void set_tls_texts(CURL* handle, const TlsTexts& texts);

// Adds what a header says to the reply, if it is one that somebody reads. Names are lower case.
void add_header(std::string_view name, std::string_view value, HttpReply& reply);

// The most that is read of one answer; no list comes near it.
inline constexpr std::size_t kBodyBytesMax = std::size_t{1} << 30;

// One request at a time on one handle; the connection is kept between them.
class Exchange {
 public:
  // Gets the bytes of a successful answer as they come, instead of HttpReply::body; false ends it.
  // Where HTTP/2 is ours an empty part comes first: the server has begun to answer.
  using Sink = std::function<bool(std::string_view bytes)>;

  explicit Exchange(Endpoint& endpoint);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // Prepares the handle; the caller performs it.
  void start(HttpCall call, Sink sink = {});
  CURL* handle() const { return easy_.get(); }
  // The result, once libcurl is done with the handle.
  Result<HttpReply> finish(CURLcode code);

 private:
  struct EasyDeleter {
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  };
  void refresh_tls_texts();
  long timeout_ms() const;
  static std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* user);
  static std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* user);

  Endpoint& endpoint_;
  HttpCall call_;
  HeaderList headers_;
  std::shared_ptr<const TlsTexts> tls_texts_;  // that the handle was given
  HttpReply reply_;
  Sink sink_;
  std::array<char, CURL_ERROR_SIZE> error_{};
  std::unique_ptr<CURL, EasyDeleter> easy_;  // last: it refers to the members above
};

}  // namespace muster::client
