#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/http/certificates.h"
#include "server/http/openssl_handles.h"

// For tests and attacks only: a small blocking client that shows every byte.
namespace muster::server::testing {

// A server on this machine, and the credentials of those who may talk to it.
struct Endpoint {
  Credential authority = {};
  Credential admin = {};
  std::uint16_t port = 0;
};

struct HttpReply {
  int code = 0;
  std::map<std::string, std::string>
      headers;  // names in lower case; repeated ones joined by a line end
  std::string body;
};

// A TCP connection, with TLS on it unless `plain`. Every wait ends after a minute.
class Wire {
 public:
  struct Options {
    const Credential* client = nullptr;
    bool plain = false;
    bool http2 = false;      // offered by ALPN
    int receive_buffer = 0;  // bytes; 0 is the system's choice
  };
  Wire(const Endpoint& server, Options options) {
    ::signal(SIGPIPE, SIG_IGN);  // OpenSSL's own socket BIO raises it when the server hangs up
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    const timeval patience{.tv_sec = 60, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    const int at_once = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    if (options.receive_buffer > 0)
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &options.receive_buffer,
                   sizeof options.receive_buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    open_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    if (open_ && !options.plain) open_ = handshake(server, options);
  }
  ~Wire() { close(); }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  bool open() const { return open_; }
  // The last answer that was read says that no other follows on this connection.
  bool ends() const { return ends_; }
  // Without a word of farewell.
  void close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }

  // False once the peer takes no more.
  bool write(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent =
          ssl_ ? SSL_write(ssl_.get(), bytes.data(),
                           static_cast<int>(std::min<std::size_t>(bytes.size(), 1U << 20U)))
               : static_cast<int>(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // False at the end.
  bool read_more() {
    char bytes[16384];
    const int got = ssl_ ? SSL_read(ssl_.get(), bytes, sizeof bytes)
                         : static_cast<int>(::recv(socket_, bytes, sizeof bytes, 0));
    if (got <= 0) return false;
    in_.append(bytes, static_cast<std::size_t>(got));
    return true;
  }
  // What has come in, waiting if it is nothing; empty at the end.
  std::string read_available() {
    if (in_.empty()) read_more();
    return std::exchange(in_, {});
  }
  std::string read_all() {
    while (read_more()) {
    }
    return std::exchange(in_, {});
  }
  // Up to and including `mark`; what came instead, if the end came first.
  std::string read_until(std::string_view mark) {
    std::size_t at = 0;
    while ((at = in_.find(mark)) == std::string::npos)
      if (!read_more()) return std::exchange(in_, {});
    std::string out = in_.substr(0, at + mark.size());
    in_.erase(0, out.size());
    return out;
  }

  // Status line and headers of the next response.
  HttpReply read_head() {
    HttpReply reply;
    const std::string head = read_until("\r\n\r\n");
    if (head.size() < 12) return reply;
    std::from_chars(head.data() + 9, head.data() + 12, reply.code);
    std::size_t at = head.find("\r\n") + 2;
    while (at < head.size()) {
      const std::size_t end = head.find("\r\n", at);
      const std::size_t colon = head.find(": ", at);
      if (end == at || end == std::string::npos || colon > end) break;
      std::string name = head.substr(at, colon - at);
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      std::string& value = reply.headers[name];
      if (!value.empty()) value += '\n';
      value += head.substr(colon + 2, end - colon - 2);
      at = end + 2;
    }
    return reply;
  }
  HttpReply read_reply() {
    HttpReply reply = read_head();
    const auto connection = reply.headers.find("connection");
    ends_ = connection != reply.headers.end() && connection->second == "close";
    if (reply.headers.contains("transfer-encoding")) {
      for (std::string chunk = read_chunk(); !chunk.empty(); chunk = read_chunk())
        reply.body += chunk;
      return reply;
    }
    const auto length = reply.headers.find("content-length");
    if (length == reply.headers.end()) return reply;
    const auto size = static_cast<std::size_t>(std::stoull(length->second));
    while (in_.size() < size && read_more()) {
    }
    reply.body = in_.substr(0, size);
    in_.erase(0, size);
    return reply;
  }
  // The next chunk's bytes; empty at the last one or at the end.
  std::string read_chunk() {
    const std::string size_line = read_until("\r\n");
    std::size_t size = 0;
    std::from_chars(size_line.data(), size_line.data() + size_line.size(), size, 16);
    while (in_.size() < size + 2 && read_more()) {
    }
    std::string chunk = in_.substr(0, size);
    in_.erase(0, size + 2);
    return chunk;
  }
  // The next line of a chunked stream, without its end; empty if the stream is over.
  std::string read_line() {
    std::size_t end = 0;
    while ((end = stream_.find('\n')) == std::string::npos) {
      const std::string chunk = read_chunk();
      if (chunk.empty()) return {};
      stream_ += chunk;
    }
    std::string line = stream_.substr(0, end);
    stream_.erase(0, end + 1);
    return line;
  }

  struct Ask {
    std::string method = "GET";
    std::string target = {};
    std::vector<std::string> headers = {};  // "Accept: …"
    std::string body = {};
  };
  void send(const Ask& ask) {
    std::string text = ask.method + " " + ask.target + " HTTP/1.1\r\nHost: localhost\r\n";
    for (const std::string& header : ask.headers) text += header + "\r\n";
    if (!ask.body.empty()) text += "Content-Length: " + std::to_string(ask.body.size()) + "\r\n";
    write(text + "\r\n" + ask.body);
  }
  HttpReply ask(const Ask& what) {
    send(what);
    return read_reply();
  }
  HttpReply get(const std::string& target) {
    return ask({.method = "GET", .target = target, .headers = {}, .body = ""});
  }

 private:
  bool handshake(const Endpoint& server, const Options& options) {
    const Credential* const client = options.client;
    context_.reset(SSL_CTX_new(TLS_client_method()));
    const CertificateHandle authority = read_certificate(server.authority.certificate).value();
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), authority.get());
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    if (client != nullptr) {
      const CertificateHandle certificate = read_certificate(client->certificate).value();
      const KeyHandle key = read_private_key(client->private_key).value();
      SSL_CTX_use_certificate(context_.get(), certificate.get());
      SSL_CTX_use_PrivateKey(context_.get(), key.get());
    }
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_fd(ssl_.get(), socket_);
    constexpr unsigned char kHttp2[] = {2, 'h', '2'};
    if (options.http2) SSL_set_alpn_protos(ssl_.get(), kHttp2, sizeof kHttp2);
    return SSL_connect(ssl_.get()) == 1;
  }

  int socket_ = -1;
  bool open_ = false;
  bool ends_ = false;
  SslContextHandle context_;
  SslHandle ssl_;
  std::string in_;
  std::string stream_;
};

}  // namespace muster::server::testing
