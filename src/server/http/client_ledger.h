#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "api/request.h"
#include "server/http/limits.h"

namespace muster::server {

enum class Resource : std::uint8_t { Connections, Bytes, Writes, Watches, Streams };
inline constexpr std::size_t kResources = 5;

// What one client, one connection or all clients together hold right now. Any thread.
class Account {
 public:
  explicit Account(bool privileged = false) : privileged_(privileged) {}
  std::int64_t used(Resource what) const { return used_[index(what)].load(); }
  bool privileged() const { return privileged_; }

 private:
  friend class Hold;
  static std::size_t index(Resource what) { return static_cast<std::size_t>(what); }

  std::array<std::atomic<std::int64_t>, kResources> used_{};
  const bool privileged_;
};
using AccountPtr = std::shared_ptr<Account>;

// An amount of something, held until it is destroyed; counted in every account it was made with.
class Hold {
 public:
  Hold() = default;
  // The last account is that of all together. What is beyond `shared_max` is not counted there.
  Hold(Resource what, std::array<AccountPtr, 3> accounts, std::size_t shared_max = SIZE_MAX)
      : what_(what), accounts_(std::move(accounts)), shared_max_(shared_max) {}
  ~Hold() { resize(0); }
  Hold(Hold&& other) noexcept;
  Hold& operator=(Hold&& other) noexcept;
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  void resize(std::size_t amount) noexcept;
  std::size_t amount() const { return amount_; }

 private:
  Resource what_ = Resource::Bytes;
  std::array<AccountPtr, 3> accounts_;  // some may be null
  std::size_t shared_max_ = SIZE_MAX;
  std::size_t amount_ = 0;
};

// Who holds how much: connections, bytes, writes and watches, by user, by address and in total.
// Nobody gets more than a share, nor more than half of what is left, and part of everything is kept
// for administrators. Any thread.
class ClientLedger {
 public:
  explicit ClientLedger(const ClientLimits& limits)
      : limits_(limits), total_(std::make_shared<Account>()), book_(std::make_shared<Book>()) {}

  AccountPtr user(const api::User& user) const;
  const Account& total() const { return *total_; }

  // Whether `who` may hold more of `what` (not of connections). One amount may go over the limit:
  // a user who has any room gets all of it, however large.
  bool has_room(const Account& who, Resource what) const;
  // Bytes of one exchange; `connection` may be null. A user who exceeds the limit by one large
  // answer takes no more from others than one who is exactly at the limit.
  Hold hold_bytes(AccountPtr who, AccountPtr connection) const {
    return {Resource::Bytes, {std::move(who), std::move(connection), total_}, limits_.bytes.each};
  }
  // A larger answer needs the one place for such answers until it is sent: so at most one is not
  // counted in the total. Null if somebody else has it; administrators have their own.
  bool is_large(std::size_t bytes) const { return bytes > limits_.bytes.each; }
  std::shared_ptr<void> hold_large(const Account& who) const;
  // A list of that many bytes takes long to write, and meanwhile keeps objects alive that have been
  // replaced: until it is written it needs one of a few places, and room for what all such lists
  // may grow to. Null if there is none; administrators need none.
  static bool is_long(std::size_t bytes) { return bytes > kLongBytes; }
  // Whether there is room for a list of that many bytes: its client must not hold much else, and it
  // must leave room for all others. Both amounts grow only while the list is written.
  bool has_room_for_long(const Account& who, std::size_t bytes) const;
  bool has_long_place(const Account& who, std::size_t bytes) const;
  std::shared_ptr<void> hold_long_place(const Account& who, std::size_t bytes) const;
  // Whether all clients hold more bytes than they may, and a share more.
  bool is_overdrawn() const {
    return total_->used(Resource::Bytes) >
           static_cast<std::int64_t>(limits_.bytes.total + limits_.bytes.each);
  }
  // A write, a watch or a stream; nullopt if there is no room.
  std::optional<Hold> hold_one(const AccountPtr& who, Resource what) const;
  std::size_t bytes_per_connection() const { return limits_.bytes_per_connection; }

  // A place for one connection. It starts unproven: nobody knows whose it is. If there are too many
  // connections, the oldest unproven one is evicted to make room, so those who only hold
  // connections open never keep others out.
  class Ticket {
   public:
    ~Ticket();
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;

    // `evict` is called on any thread when the place is needed; it must only post.
    void set_evict(std::function<void()> evict);
    // A known user has sent a request. False if that user, or everybody, has too many connections.
    bool prove(const AccountPtr& user);
    const AccountPtr& address() const { return address_; }

   private:
    friend class ClientLedger;
    Ticket(ClientLedger& ledger, AccountPtr address);
    void release();

    ClientLedger& ledger_;
    const AccountPtr address_;
    // Under the ledger's mutex, as all below.
    std::function<void()> evict_;
    std::list<Ticket*>::iterator place_;
    bool unproven_ = true;
    bool evicted_ = false;
    Hold held_;   // by address and in total
    Hold owned_;  // by the user
  };
  // Null if there is no room, and nobody to evict.
  std::unique_ptr<Ticket> accept(std::string_view address);

 private:
  // The accounts in use, by name. Accounts may outlive the ledger.
  struct Book {
    std::mutex mutex;
    std::map<std::string, std::weak_ptr<Account>, std::less<>> accounts;  // under mutex
  };
  // Lists that are being written, and how many bytes they may take.
  struct LongLists {
    std::mutex mutex;
    int lists = 0;  // under mutex, as the bytes
    std::size_t bytes = 0;
  };
  bool fits(const LongLists& others, std::size_t counted) const;
  std::size_t counted(std::size_t bytes) const { return std::min(bytes, limits_.bytes.each); }
  std::size_t open_bytes() const {
    return limits_.bytes.total - std::min(limits_.bytes.reserved, limits_.bytes.total);
  }
  const Share& share_of(Resource what) const;
  AccountPtr open(const std::string& name, bool privileged) const;
  bool is_full(const Account& address) const;
  std::function<void()> evict_oldest(const Account* address);

  const ClientLimits limits_;
  const AccountPtr total_;
  static constexpr std::size_t kLongBytes = 16U << 20U;
  static constexpr int kLong = 4;
  const std::shared_ptr<LongLists> long_lists_ = std::make_shared<LongLists>();
  const std::shared_ptr<std::atomic<bool>> has_large_ = std::make_shared<std::atomic<bool>>(false);
  const std::shared_ptr<Book> book_;
  std::mutex mutex_;
  std::list<Ticket*> unproven_;  // oldest first; under mutex_
};

}  // namespace muster::server
