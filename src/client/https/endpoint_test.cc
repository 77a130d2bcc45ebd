#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "client/https/exchange.h"

namespace muster::client {
namespace {

Kubeconfig config(std::string server, std::string tls_server_name = "") {
  Kubeconfig out;
  out.context = "dev";
  out.server = std::move(server);
  out.tls_server_name = std::move(tls_server_name);
  return out;
}

// "URL of /version, authority, path prefix" as requests name them.
std::string names(const std::string& server, const std::string& tls_server_name = "") {
  const Endpoint endpoint(config(server, tls_server_name), {});
  HttpCall call;
  call.target = "/version";
  return endpoint.url(call) + ", " + std::string(endpoint.authority()) + ", " +
         std::string(endpoint.path_prefix());
}

std::vector<std::string> lines(const HeaderList& headers) {
  std::vector<std::string> out;
  for (const curl_slist* at = headers.get(); at != nullptr; at = at->next)
    out.emplace_back(at->data);
  return out;
}

TEST(Endpoint, RequestsNameTheServerOrTheNameThatItsCertificateHas) {
  EXPECT_EQ(names("https://10.0.0.1:6443"), "https://10.0.0.1:6443/version, 10.0.0.1:6443, ");
  EXPECT_EQ(names("https://proxy/clusters/one"),
            "https://proxy/clusters/one/version, proxy, /clusters/one");
  EXPECT_EQ(names("https://10.0.0.1:6443/a", "kubernetes"),
            "https://kubernetes:6443/a/version, kubernetes:6443, /a");
  EXPECT_EQ(names("https://10.0.0.1", "kubernetes"),
            "https://kubernetes:443/version, kubernetes:443, ");
  EXPECT_EQ(names("https://[fd00::1]:6443", "kubernetes"),
            "https://kubernetes:6443/version, kubernetes:6443, ");
  EXPECT_EQ(names("https://[fd00::1]/a", "kubernetes"),
            "https://kubernetes:443/a/version, kubernetes:443, /a");
}

TEST(Endpoint, EveryRequestSaysWhoAsks) {
  Kubeconfig full = config("https://x");
  full.token = "secret";
  full.impersonate = "jane";
  full.impersonate_uid = "u-1";
  full.impersonate_groups = {"ops", "dev"};
  Endpoint endpoint(full, {});
  HttpCall call;
  call.content_type = "application/json";
  call.accept = "text/plain";
  EXPECT_EQ(lines(endpoint.headers(call)),
            (std::vector<std::string>{
                "Accept: text/plain", "Expect:", "Content-Type: application/json",
                "Authorization: Bearer secret", "impersonate-user: jane", "impersonate-uid: u-1",
                "impersonate-group: ops", "impersonate-group: dev"}));
  Endpoint plain(config("https://x"), {});
  EXPECT_EQ(lines(plain.headers({})),
            (std::vector<std::string>{"Accept: application/json", "Expect:"}));
}

TEST(Endpoint, SaysWhyTheServerCouldNotBeAsked) {
  const Endpoint endpoint(config("https://x:1"), {});
  struct Case {
    CURLcode code;
    Reason reason;
    std::string_view message;
  };
  for (const Case& test :
       {Case{CURLE_OPERATION_TIMEDOUT, Reason::Timeout,
             "the API server https://x:1 does not answer: why; is the address in context dev "
             "right?"},
        {CURLE_PEER_FAILED_VERIFICATION, Reason::ServiceUnavailable,
         "the certificate of https://x:1 is not trusted: why; certificate-authority-data of the "
         "cluster in context dev must be the authority that signed it (a server that was set up "
         "again has a new one)"},
        {CURLE_SSL_CERTPROBLEM, Reason::ServiceUnavailable,
         "the client certificate or key of context dev cannot be used: why"},
        {CURLE_COULDNT_CONNECT, Reason::ServiceUnavailable,
         "cannot reach the API server https://x:1: why; is it running, and is context dev the "
         "right one?"}}) {
    const Error error = endpoint.unasked(test.code, "why");
    EXPECT_EQ(error.reason, test.reason);
    EXPECT_EQ(error.message, test.message);
  }
  EXPECT_NE(endpoint.unasked(CURLE_OPERATION_TIMEDOUT, "").message.find("Timeout was reached"),
            std::string::npos);
}

TEST(AddHeader, KeepsWarningsAndWhenToComeAgain) {
  HttpReply reply;
  add_header("warning", R"(299 - "deprecated: use \"v1\"")", reply);
  add_header("warning", "no quotes", reply);
  add_header("warning", R"(299 - "half)", reply);
  add_header("warning", R"(299 - "")", reply);
  add_header("retry-after", "7", reply);
  add_header("content-length", "9", reply);
  EXPECT_EQ(reply.warnings, (std::vector<std::string>{R"(deprecated: use "v1")", "no quotes",
                                                      R"(299 - "half)", ""}));
  EXPECT_EQ(reply.retry_after_s, 7);
}

}  // namespace
}  // namespace muster::client
