#include "server/http/client_ledger.h"

#include <algorithm>
#include <utility>

#include "server/access/authorizer.h"

namespace muster::server {
namespace {

std::int64_t to_signed(std::size_t amount) { return static_cast<std::int64_t>(amount); }

}  // namespace

Hold::Hold(Hold&& other) noexcept
    : what_(other.what_),
      accounts_(std::move(other.accounts_)),
      shared_max_(other.shared_max_),
      amount_(std::exchange(other.amount_, 0)) {}

Hold& Hold::operator=(Hold&& other) noexcept {
  if (this == &other) return *this;
  resize(0);
  what_ = other.what_;
  accounts_ = std::move(other.accounts_);
  shared_max_ = other.shared_max_;
  amount_ = std::exchange(other.amount_, 0);
  return *this;
}

void Hold::resize(std::size_t amount) noexcept {
  if (amount == amount_) return;
  const std::size_t before = std::exchange(amount_, amount);
  const std::int64_t more = to_signed(amount) - to_signed(before);
  const std::int64_t shared =
      to_signed(std::min(amount, shared_max_)) - to_signed(std::min(before, shared_max_));
  for (const AccountPtr& account : accounts_)
    if (account)
      account->used_[Account::index(what_)].fetch_add(&account == &accounts_.back() ? shared
                                                                                    : more);
}

AccountPtr ClientLedger::open(const std::string& name, bool privileged) const {
  const std::lock_guard lock(book_->mutex);
  std::weak_ptr<Account>& known = book_->accounts[name];
  if (AccountPtr account = known.lock()) return account;
  // The last one to let go of the account takes its line out of the book.
  AccountPtr account(new Account(privileged), [name, book = std::weak_ptr(book_)](Account* gone) {
    delete gone;
    const std::shared_ptr<Book> there = book.lock();
    if (!there) return;
    const std::lock_guard inner(there->mutex);
    const auto line = there->accounts.find(name);
    if (line != there->accounts.end() && line->second.expired()) there->accounts.erase(line);
  });
  known = account;
  return account;
}

// A name alone does not tell the privileged from others: groups come from the credential.
AccountPtr ClientLedger::user(const api::User& user) const {
  const bool privileged = is_master(user);
  return open((privileged ? "master/" : "user/") + user.name, privileged);
}

const Share& ClientLedger::share_of(Resource what) const {
  switch (what) {
    case Resource::Connections: return limits_.connections;
    case Resource::Bytes: return limits_.bytes;
    case Resource::Writes: return limits_.writes;
    case Resource::Watches: return limits_.watches;
    case Resource::Streams: break;
  }
  return limits_.streams;
}

bool ClientLedger::has_room(const Account& who, Resource what) const {
  const Share& share = share_of(what);
  const std::size_t open =
      who.privileged() ? share.total : share.total - std::min(share.reserved, share.total);
  const std::int64_t left = to_signed(open) - total_->used(what);
  // Of bytes others may hold more than they may, by an answer each; what is reserved stays.
  if (left <= 0)
    return what == Resource::Bytes && who.privileged() &&
           who.used(what) < to_signed(share.reserved);
  // Nobody holds more than half of what is still free, so alone a third of it all: however many ask
  // for much, a client that asks for little finds room.
  const std::int64_t most = std::min(to_signed(share.each), std::max<std::int64_t>(left / 2, 1));
  return who.privileged() || who.used(what) < most;
}

bool ClientLedger::has_room_for_long(const Account& who, std::size_t bytes) const {
  if (who.privileged()) return true;
  const std::int64_t more = to_signed(counted(bytes));
  return who.used(Resource::Bytes) + more <= to_signed(limits_.bytes.each + kLongBytes) &&
         total_->used(Resource::Bytes) + more <= to_signed(open_bytes());
}

std::shared_ptr<void> ClientLedger::hold_large(const Account& who) const {
  if (who.privileged()) return has_large_;
  if (has_large_->exchange(true)) return nullptr;
  return {has_large_.get(), [taken = has_large_](void*) { taken->store(false); }};
}

// Under the mutex of the others. One alone always does.
bool ClientLedger::fits(const LongLists& others, std::size_t counted) const {
  return others.lists == 0 || (others.lists < kLong && others.bytes + counted <= open_bytes());
}

bool ClientLedger::has_long_place(const Account& who, std::size_t bytes) const {
  const std::lock_guard lock(long_lists_->mutex);
  return who.privileged() || fits(*long_lists_, counted(bytes));
}

std::shared_ptr<void> ClientLedger::hold_long_place(const Account& who, std::size_t bytes) const {
  if (who.privileged()) return long_lists_;
  const std::lock_guard lock(long_lists_->mutex);
  if (!fits(*long_lists_, counted(bytes))) return nullptr;
  ++long_lists_->lists;
  long_lists_->bytes += counted(bytes);
  return {long_lists_.get(), [all = long_lists_, mine = counted(bytes)](void*) {
            const std::lock_guard inner(all->mutex);
            --all->lists;
            all->bytes -= mine;
          }};
}

std::optional<Hold> ClientLedger::hold_one(const AccountPtr& who, Resource what) const {
  if (!has_room(*who, what)) return std::nullopt;
  Hold hold(what, {who, nullptr, total_});
  hold.resize(1);
  return hold;
}

// --- Connections.

ClientLedger::Ticket::Ticket(ClientLedger& ledger, AccountPtr address)
    : ledger_(ledger),
      address_(std::move(address)),
      held_(Resource::Connections, {address_, nullptr, ledger.total_}) {
  held_.resize(1);
}

ClientLedger::Ticket::~Ticket() {
  const std::lock_guard lock(ledger_.mutex_);
  release();
}

void ClientLedger::Ticket::release() {
  if (std::exchange(unproven_, false)) ledger_.unproven_.erase(place_);
  held_.resize(0);
  owned_.resize(0);
}

void ClientLedger::Ticket::set_evict(std::function<void()> evict) {
  std::function<void()> due;
  {
    const std::lock_guard lock(ledger_.mutex_);
    if (evicted_) due = evict;
    evict_ = std::move(evict);
  }
  if (due) due();
}

bool ClientLedger::Ticket::prove(const AccountPtr& user) {
  const std::lock_guard lock(ledger_.mutex_);
  if (!unproven_) return !evicted_;  // requests of other users on it count for the first
  const ClientLimits& limits = ledger_.limits_;
  const auto used = [](const Account& of) { return of.used(Resource::Connections); };
  const bool crowded = used(*ledger_.total_) > to_signed(limits.connections.total) ||
                       used(*address_) > to_signed(limits.connections_per_address) ||
                       used(*user) >= to_signed(limits.connections.each);
  if (crowded && !user->privileged()) return false;
  unproven_ = false;
  ledger_.unproven_.erase(place_);
  owned_ = Hold(Resource::Connections, {user, nullptr, nullptr});
  owned_.resize(1);
  return true;
}

// Full means beyond the reserve as well: until a request has come, anybody may be an administrator.
bool ClientLedger::is_full(const Account& address) const {
  const std::size_t reserved = limits_.connections.reserved;
  return total_->used(Resource::Connections) >= to_signed(limits_.connections.total + reserved) ||
         address.used(Resource::Connections) >=
             to_signed(limits_.connections_per_address + reserved) ||
         unproven_.size() >= limits_.connections_unproven;
}

// Under mutex_. The returned function is to be called without it.
std::function<void()> ClientLedger::evict_oldest(const Account* address) {
  const auto oldest = std::ranges::find_if(unproven_, [&](const Ticket* ticket) {
    return address == nullptr || ticket->address_.get() == address;
  });
  if (oldest == unproven_.end()) return nullptr;
  Ticket& gone = **oldest;
  gone.evicted_ = true;
  gone.release();
  return gone.evict_ ? gone.evict_ : [] {};
}

std::unique_ptr<ClientLedger::Ticket> ClientLedger::accept(std::string_view address) {
  const AccountPtr account = open("address/" + std::string(address), false);
  std::unique_ptr<Ticket> ticket;
  std::function<void()> evict;
  {
    const std::lock_guard lock(mutex_);
    if (is_full(*account)) {
      evict = evict_oldest(account.get());
      // Room at this address alone does not help if the total is used up.
      if (!evict) evict = evict_oldest(nullptr);
    }
    if (!is_full(*account)) {
      ticket.reset(new Ticket(*this, account));
      ticket->place_ = unproven_.insert(unproven_.end(), ticket.get());
    }
  }
  if (evict) evict();
  return ticket;
}

}  // namespace muster::server
