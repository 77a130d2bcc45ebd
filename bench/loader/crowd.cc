#include "crowd.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "base/check.h"
#include "response_reader.h"

namespace muster::loader {
namespace {

constexpr std::chrono::milliseconds kAskTime{300'000};
constexpr std::chrono::milliseconds kRetryAfter{50};
constexpr int kTriesMax = 200;

bool is_overload(int code) { return code == 0 || code == 429 || code >= 500; }

int open_socket(const Target& target) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(target.host.c_str(), target.port.c_str(), &hints, &found) != 0) return -1;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    const int fd = ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, 0);
    if (fd < 0) continue;
    if (::connect(fd, at->ai_addr, at->ai_addrlen) == 0) {
      const int on = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
      return fd;
    }
    ::close(fd);
  }
  return -1;
}

}  // namespace

// One TLS connection: a request out, a response in. The first ask() connects and shakes hands, as
// does the next one after it broke.
class Crowd::Connection {
 public:
  Connection(const Target& target, int epoll) : target_(target), epoll_(epoll) {}
  ~Connection() { hang_up(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // `line`: see ResponseReader::begin. Both must live until the answer.
  void ask(const Asked& request, const OnAnswer* on_answer, const ResponseReader::Line* line) {
    on_answer_ = on_answer;
    write_request(request);
    out_at_ = 0;
    reader_.begin(line);
    sent_ = SteadyClock::now();
    busy_ = true;
    if (tls_ == nullptr && !open()) {
      fail();
      return;
    }
    advance();
  }
  // The socket has news.
  void advance() {
    if (!busy_) {
      hang_up();  // the server closes an idle connection
      return;
    }
    if (!write_out() || !read_in()) fail();
  }
  bool busy() const { return busy_; }
  bool streams() const { return busy_ && reader_.head_done() && reader_.code() == 200; }

  std::size_t number = 0;  // of the request, for Crowd::drive
  int tries = 0;
  Asked asked;

 private:
  bool open() {
    fd_ = open_socket(target_);
    if (fd_ < 0) return false;
    tls_ = SSL_new(target_.tls.get());
    SSL_set_fd(tls_, fd_);
    SSL_set_connect_state(tls_);
    if (target_.verify) {
      X509_VERIFY_PARAM* const param = SSL_get0_param(tls_);
      if (X509_VERIFY_PARAM_set1_ip_asc(param, target_.server_name.c_str()) != 1)
        X509_VERIFY_PARAM_set1_host(param, target_.server_name.c_str(), 0);
    }
    epoll_event event{.events = EPOLLIN, .data = {.ptr = this}};
    return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd_, &event) == 0;
  }
  void hang_up() {
    if (tls_ != nullptr) SSL_free(std::exchange(tls_, nullptr));
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    wants_write_ = false;
  }
  void fail() {
    hang_up();
    finish({.code = 0, .sent = sent_});
  }
  void finish(const Answered& answered) {
    busy_ = false;
    if (on_answer_ != nullptr) (*on_answer_)(*this, answered);
  }
  void write_request(const Asked& request) {
    out_.clear();
    fmt::format_to(std::back_inserter(out_),
                   "{} {} HTTP/1.1\r\nHost: {}:{}\r\nUser-Agent: muster-loader\r\n"
                   "Accept: application/json\r\n",
                   request.method, request.path, target_.host, target_.port);
    if (!target_.authorization.empty())
      out_.append("Authorization: ").append(target_.authorization).append("\r\n");
    if (!request.body.empty())
      fmt::format_to(std::back_inserter(out_), "Content-Type: {}\r\nContent-Length: {}\r\n",
                     request.content_type, request.body.size());
    out_.append("\r\n").append(request.body);
  }
  // False if the connection broke.
  bool write_out() {
    while (out_at_ < out_.size()) {
      ERR_clear_error();
      const int moved =
          SSL_write(tls_, out_.data() + out_at_, static_cast<int>(out_.size() - out_at_));
      if (moved > 0) {
        out_at_ += static_cast<std::size_t>(moved);
        continue;
      }
      return waits(SSL_get_error(tls_, moved));
    }
    return true;
  }
  bool read_in() {
    // Shared by all connections: they take turns on one thread.
    static std::array<char, 64U << 10U> buffer;
    while (busy_ && out_at_ == out_.size()) {
      ERR_clear_error();
      const int moved = SSL_read(tls_, buffer.data(), static_cast<int>(buffer.size()));
      if (moved <= 0) return waits(SSL_get_error(tls_, moved));
      switch (reader_.feed({buffer.data(), static_cast<std::size_t>(moved)})) {
        case ResponseReader::State::Broken: return false;
        case ResponseReader::State::Done: {
          if (reader_.closes()) hang_up();
          finish({.code = reader_.code(),
                  .body = reader_.body(),
                  .body_bytes = reader_.body_bytes(),
                  .sent = sent_});
          return true;
        }
        case ResponseReader::State::HeadDone:
        case ResponseReader::State::NeedsMore:
          // A TLS record is at most 16 KiB: a short read means that there is no more now.
          if (moved < 1024 && SSL_pending(tls_) == 0) return true;
          break;
      }
    }
    return true;
  }
  bool waits(int error) {
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) return false;
    const bool writes = error == SSL_ERROR_WANT_WRITE;
    if (writes != wants_write_) {
      wants_write_ = writes;
      const std::uint32_t events = writes ? EPOLLIN | EPOLLOUT : EPOLLIN;
      epoll_event event{.events = events, .data = {.ptr = this}};
      ::epoll_ctl(epoll_, EPOLL_CTL_MOD, fd_, &event);
    }
    return true;
  }

  const Target& target_;
  const int epoll_;
  int fd_ = -1;
  SSL* tls_ = nullptr;
  bool wants_write_ = false;
  bool busy_ = false;
  std::string out_;
  std::size_t out_at_ = 0;
  ResponseReader reader_;
  SteadyTime sent_;
  const OnAnswer* on_answer_ = nullptr;

 public:
  ResponseReader::Line on_line;  // of a watch
  std::function<std::string()>
      again;  // the path that a watch which ended goes on with; none: it does not
};

// One call of drive().
struct Crowd::Driven {
  const Next& next;
  const Done& done;
  bool exhausted = false;
  std::size_t given = 0;
  std::size_t under_way = 0;
  std::vector<std::pair<SteadyTime, Connection*>> later;  // in order of time
  OnAnswer on_answer;
};

Crowd::Crowd(Target target)
    : target_(std::move(target)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      on_watch_end_([this](Connection& watch, const Answered& answered) {
        if (watch.again)
          ended_.push_back(&watch);
        else
          ++broken_watches_;
        if (!answered.good()) ++errors_[answered.code];
      }) {
  CHECK(epoll_ >= 0);
}

Crowd::~Crowd() {
  workers_.clear();
  watches_.clear();
  ::close(epoll_);
}

std::unique_ptr<Crowd::Connection> Crowd::connect() {
  return std::make_unique<Connection>(target_, epoll_);
}

void Crowd::turn(std::chrono::milliseconds at_most) {
  for (Connection* const watch : std::exchange(ended_, {}))
    watch->ask({.path = watch->again()}, &on_watch_end_, &watch->on_line);
  std::array<epoll_event, 256> events;
  const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()),
                                 static_cast<int>(at_most.count()));
  for (int i = 0; i < count; ++i)
    static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr)->advance();
}

Crowd::Reply Crowd::ask(const Asked& asked) {
  if (workers_.empty()) workers_.push_back(connect());
  std::optional<Reply> reply;
  const OnAnswer on_answer = [&](Connection&, const Answered& answered) {
    reply =
        Reply{.code = answered.code,
              .body = std::string(answered.body),
              .bytes = answered.body_bytes,
              .seconds = std::chrono::duration<double>(SteadyClock::now() - answered.sent).count()};
  };
  workers_.front()->ask(asked, &on_answer, nullptr);
  const SteadyTime end = SteadyClock::now() + kAskTime;
  while (!reply && SteadyClock::now() < end) turn(std::chrono::milliseconds{100});
  CHECK_THAT(reply.has_value(), "no answer to {} {}", asked.method, asked.path);
  return *std::move(reply);
}

void Crowd::drive(std::size_t connections, const Next& next, const Done& done) {
  Driven run{.next = next, .done = done, .later = {}, .on_answer = {}};
  run.on_answer = [&](Connection& connection, const Answered& answered) {
    handle_answer(run, connection, answered);
  };
  while (workers_.size() < connections) workers_.push_back(connect());
  for (std::size_t i = 0; i < connections; ++i) give_work(run, *workers_[i]);
  while (run.under_way > 0) {
    std::chrono::milliseconds patience{100};
    if (!run.later.empty()) patience = std::chrono::milliseconds{5};
    turn(patience);
    while (!run.later.empty() && run.later.front().first <= SteadyClock::now()) {
      Connection& again = *run.later.front().second;
      run.later.erase(run.later.begin());
      again.ask(again.asked, &run.on_answer, nullptr);
    }
  }
}

// An answer may come inside ask() and lead here again, so the next is given by a loop, not by
// recursion.
void Crowd::give_work(Driven& run, Connection& connection) {
  if (run.exhausted) return;
  // A connection is used again, a request is not: nothing of the last one may stay in it.
  connection.asked = {};
  if (!run.next(run.given, connection.asked)) {
    run.exhausted = true;
    return;
  }
  connection.number = run.given++;
  connection.tries = 0;
  ++run.under_way;
  connection.ask(connection.asked, &run.on_answer, nullptr);
}

void Crowd::handle_answer(Driven& run, Connection& connection, const Answered& answered) {
  if (!answered.good()) ++errors_[answered.code];
  if (is_overload(answered.code) && ++connection.tries < kTriesMax) {
    run.later.emplace_back(SteadyClock::now() + kRetryAfter, &connection);
    return;
  }
  --run.under_way;
  run.done(connection.number, answered);
  give_work(run, connection);
}

std::size_t Crowd::watch_many(
    std::size_t count, const std::string& path,
    const std::function<void(std::size_t watcher, std::string_view)>& line) {
  const std::size_t first = watches_.size();
  for (std::size_t i = 0; i < count; ++i) {
    watches_.push_back(connect());
    Connection& connection = *watches_.back();
    connection.on_line = [line, i](std::string_view text) { line(i, text); };
    connection.ask({.path = path}, &on_watch_end_, &connection.on_line);
    // A few handshakes at a time, so that none is late.
    if (i % 16 == 15) turn(std::chrono::milliseconds{1});
  }
  return open_watches(first, count);
}

bool Crowd::follow(const std::string& path, std::uint64_t revision,
                   std::function<void(std::string_view)> line) {
  const auto since = std::make_shared<std::uint64_t>(revision);
  const std::size_t first = watches_.size();
  watches_.push_back(connect());
  Connection& connection = *watches_.back();
  connection.on_line = [line = std::move(line), since, &connection](std::string_view text) {
    if (text.starts_with(R"({"type":"ERROR")")) connection.again = {};  // it is too late to go on
    *since = revision_in(text);
    line(text);
  };
  connection.again = [path, since] { return fmt::format("{}&resourceVersion={}", path, *since); };
  connection.ask({.path = connection.again()}, &on_watch_end_, &connection.on_line);
  return open_watches(first, 1) == 1;
}

// Waits until the watches from `first` on are open; how many are.
std::size_t Crowd::open_watches(std::size_t first, std::size_t wanted) {
  const auto open = [&] {
    return static_cast<std::size_t>(
        std::count_if(watches_.begin() + static_cast<std::ptrdiff_t>(first), watches_.end(),
                      [](const auto& each) { return each->streams(); }));
  };
  wait_until([&] { return open() == wanted; }, std::chrono::seconds{60});
  return open();
}

void Crowd::close_watches() {
  ended_.clear();
  watches_.clear();
  broken_watches_ = 0;
}

bool Crowd::wait_until(const std::function<bool()>& done, std::chrono::milliseconds at_most) {
  const SteadyTime end = SteadyClock::now() + at_most;
  while (!done()) {
    const SteadyTime now = SteadyClock::now();
    if (now >= end) return false;
    turn(std::min(std::chrono::milliseconds{20},
                  std::chrono::duration_cast<std::chrono::milliseconds>(end - now) +
                      std::chrono::milliseconds{1}));
  }
  return true;
}

std::uint64_t revision_in(std::string_view text) {
  constexpr std::string_view kMember = R"("resourceVersion":")";
  const std::size_t at = text.find(kMember);
  std::uint64_t revision = 0;
  if (at != std::string_view::npos)
    std::from_chars(text.data() + at + kMember.size(), text.data() + text.size(), revision);
  return revision;
}

}  // namespace muster::loader
