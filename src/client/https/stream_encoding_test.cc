#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <thread>

#include "client/https/https_client.h"

namespace muster::client {
namespace {

using boost::asio::ip::tcp;

// Keeps the head of the one request that it answers.
class OneAnswer {
 public:
  OneAnswer() = default;

  std::string url() const {
    return fmt::format("http://127.0.0.1:{}", acceptor_.local_endpoint().port());
  }
  std::string head_of_request() {
    thread_.join();
    return head_;
  }

 private:
  void answer() {
    tcp::socket socket = acceptor_.accept();
    boost::asio::read_until(socket, boost::asio::dynamic_buffer(head_), "\r\n\r\n");
    constexpr std::string_view kAnswer =
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
    boost::asio::write(socket, boost::asio::buffer(kAnswer));
  }

  boost::asio::io_context context_;
  tcp::acceptor acceptor_{context_, {boost::asio::ip::address_v4::loopback(), 0}};
  std::string head_;
  std::thread thread_{[this] { answer(); }};
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
