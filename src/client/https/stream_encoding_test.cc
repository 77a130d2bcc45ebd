#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

#include "client/https/https_client.h"

namespace muster::client {
namespace {

// Keeps the head of the one request that it answers.
class OneAnswer {
 public:
  OneAnswer() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listener_, any, size), 0);
    EXPECT_EQ(listen(listener_, 1), 0);
    EXPECT_EQ(getsockname(listener_, any, &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { answer(); });
  }
  ~OneAnswer() { close(listener_); }
  OneAnswer(const OneAnswer&) = delete;
  OneAnswer& operator=(const OneAnswer&) = delete;

  std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }
  std::string head_of_request() {
    thread_.join();
    return head_;
  }

 private:
  void answer() {
    const int peer = accept(listener_, nullptr, nullptr);
    std::array<char, 4096> bytes{};
    while (head_.find("\r\n\r\n") == std::string::npos) {
      const ssize_t count = recv(peer, bytes.data(), bytes.size(), 0);
      if (count <= 0) break;
      head_.append(bytes.data(), static_cast<std::size_t>(count));
    }
    constexpr std::string_view kAnswer =
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
    EXPECT_EQ(send(peer, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(kAnswer.size()));
    close(peer);
  }

  const int listener_ = socket(AF_INET, SOCK_STREAM, 0);
  std::uint16_t port_ = 0;
  std::string head_;
  std::thread thread_;
};

std::string head_of(const Exchange::Sink& sink) {
  OneAnswer server;
  Kubeconfig config;
  config.server = server.url();
  api::Request request;
  request.kind = &api::kinds::node();
  request.version = "v1";
  request.verb = sink ? api::Verb::Watch : api::Verb::List;
  EXPECT_TRUE(HttpsClient::open(config, {}).value().read(request, "application/json", sink));
  return server.head_of_request();
}

// Kubernetes 1.37 packs a watch as many gzip members, one after the other; libcurl reads the first
// and calls the next an error.
TEST(StreamEncodingTest, StreamsAreNotAskedForPacked) {
  std::string body;
  const std::string head = head_of([&](std::string_view bytes) {
    body += bytes;
    return true;
  });
  EXPECT_EQ(body, "{}");
  EXPECT_EQ(head.find("Accept-Encoding"), std::string::npos) << head;
}

TEST(StreamEncodingTest, ListsAre) {
  const std::string head = head_of({});
  EXPECT_NE(head.find("Accept-Encoding"), std::string::npos) << head;
  EXPECT_NE(head.find("gzip"), std::string::npos) << head;
}

}  // namespace
}  // namespace muster::client
