#include "server/http/client_ledger.h"

#include <gtest/gtest.h>

#include <vector>

#include "watch/window.h"

namespace muster::server {
namespace {

const api::User kJane{.name = "jane", .groups = {"system:authenticated"}};
const api::User kJoe{.name = "joe", .groups = {"system:authenticated"}};
const api::User kAdmin{.name = "admin", .groups = {"system:masters"}};

ClientLimits small() {
  ClientLimits limits;
  limits.connections = {.total = 4, .each = 2, .reserved = 1};
  limits.connections_per_address = 4;
  limits.connections_unproven = 4;
  limits.bytes = {.total = 100, .each = 60, .reserved = 20};
  limits.writes = {.total = 7, .each = 2, .reserved = 1};
  return limits;
}

TEST(ClientLedgerTest, TheDefaultsLeaveTheServerRoomForTheRest) {
  const watch::Limits history;
  EXPECT_LE(ClientLimits{}.bytes.total + history.bytes_max + history.text_bytes_max, 384U << 20U)
      << "512 MiB are promised (docs/threat-model.md); store and components need the others";
}

TEST(ClientLedgerTest, HoldsAreCountedForTheUserAndInTotal) {
  const ClientLedger ledger(small());
  const AccountPtr jane = ledger.user(kJane);
  Hold hold = ledger.hold_bytes(jane, nullptr);
  hold.resize(40);
  EXPECT_EQ(jane->used(Resource::Bytes), 40);
  EXPECT_EQ(ledger.user(kJane)->used(Resource::Bytes), 40) << "the same account";
  Hold moved = std::move(hold);
  moved.resize(50);
  EXPECT_EQ(ledger.total().used(Resource::Bytes), 50);
  moved = Hold();
  EXPECT_EQ(ledger.total().used(Resource::Bytes), 0);
  EXPECT_EQ(jane->used(Resource::Bytes), 0);
}

TEST(ClientLedgerTest, NobodyGetsMoreThanAShareAndPartIsReserved) {
  const ClientLedger ledger(small());
  const AccountPtr jane = ledger.user(kJane);
  const AccountPtr joe = ledger.user(kJoe);
  const AccountPtr admin = ledger.user(kAdmin);
  Hold janes = ledger.hold_bytes(jane, nullptr);
  janes.resize(60);
  EXPECT_FALSE(ledger.has_room(*jane, Resource::Bytes)) << "her share";
  EXPECT_TRUE(ledger.has_room(*joe, Resource::Bytes));
  Hold joes = ledger.hold_bytes(joe, nullptr);
  joes.resize(20);
  EXPECT_FALSE(ledger.has_room(*joe, Resource::Bytes)) << "the rest is reserved";
  EXPECT_TRUE(ledger.has_room(*admin, Resource::Bytes));
  joes.resize(50);
  EXPECT_TRUE(ledger.has_room(*admin, Resource::Bytes)) << "all is in use, but what is reserved";
  Hold admins = ledger.hold_bytes(admin, nullptr);
  admins.resize(20);
  EXPECT_FALSE(ledger.has_room(*admin, Resource::Bytes));
  admins.resize(0);

  std::vector<Hold> writes;
  for (int i = 0; i < 2; ++i) writes.push_back(ledger.hold_one(jane, Resource::Writes).value());
  EXPECT_FALSE(ledger.hold_one(jane, Resource::Writes)) << "her share";
  for (int i = 0; i < 4; ++i) {
    const AccountPtr another = ledger.user({.name = "user" + std::to_string(i), .groups = {}});
    writes.push_back(ledger.hold_one(another, Resource::Writes).value());
  }
  EXPECT_FALSE(ledger.hold_one(joe, Resource::Writes)) << "the rest is reserved";
  EXPECT_TRUE(ledger.hold_one(admin, Resource::Writes));
}

// Who has room gets the whole of the next answer. One of 300 MiB that was not read kept everybody
// out, administrators too.
TEST(ClientLedgerTest, AnAnswerBeyondAllLimitsTakesNoMoreThanAShareFromOthers) {
  const ClientLedger ledger(small());
  const AccountPtr jane = ledger.user(kJane);
  const AccountPtr joe = ledger.user(kJoe);
  Hold huge = ledger.hold_bytes(jane, nullptr);
  huge.resize(1'000'000);
  EXPECT_EQ(jane->used(Resource::Bytes), 1'000'000);
  EXPECT_EQ(ledger.total().used(Resource::Bytes), 60);
  EXPECT_FALSE(ledger.has_room(*jane, Resource::Bytes));
  EXPECT_TRUE(ledger.has_room(*joe, Resource::Bytes));
  huge.resize(50);
  EXPECT_EQ(ledger.total().used(Resource::Bytes), 50);
  huge.resize(70);
  const Hold moved = std::move(huge);
  EXPECT_EQ(ledger.total().used(Resource::Bytes), 60);
}

TEST(ClientLedgerTest, ThereIsOnePlaceForALargeAnswer) {
  const ClientLedger ledger(small());
  EXPECT_FALSE(ledger.is_large(60));
  EXPECT_TRUE(ledger.is_large(61));
  const AccountPtr jane = ledger.user(kJane);
  std::shared_ptr<void> place = ledger.hold_large(*jane);
  EXPECT_NE(place, nullptr);
  EXPECT_EQ(ledger.hold_large(*ledger.user(kJoe)), nullptr);
  EXPECT_NE(ledger.hold_large(*ledger.user(kAdmin)), nullptr);
  EXPECT_EQ(ledger.hold_large(*jane), nullptr) << "still hers";
  place.reset();
  EXPECT_NE(ledger.hold_large(*ledger.user(kJoe)), nullptr);
}

// Two who take whatever they get, in the largest pieces there are, once filled the whole.
TEST(ClientLedgerTest, WhoAsksForLittleFindsRoomBesideTheGreedy) {
  ClientLimits limits;
  const ClientLedger ledger(limits);
  const AccountPtr jane = ledger.user(kJane);
  std::vector<Hold> held;
  std::vector<AccountPtr> greedy;
  for (const std::string name : {"a", "b"}) {
    greedy.push_back(ledger.user({.name = name, .groups = {}}));
    while (ledger.has_room(*greedy.back(), Resource::Bytes)) {
      held.push_back(ledger.hold_bytes(greedy.back(), nullptr));
      held.back().resize(limits.bytes_per_connection);
    }
    while (std::optional<Hold> write = ledger.hold_one(greedy.back(), Resource::Writes))
      held.push_back(*std::move(write));
  }
  EXPECT_TRUE(ledger.has_room(*jane, Resource::Bytes));
  for (int i = 0; i < 50; ++i) {
    std::optional<Hold> write = ledger.hold_one(jane, Resource::Writes);
    ASSERT_TRUE(write) << i;
    held.push_back(*std::move(write));
  }
}

TEST(ClientLedgerTest, AUserNamedLikeAnAdministratorIsNone) {
  const ClientLedger ledger(small());
  const AccountPtr admin = ledger.user(kAdmin);
  EXPECT_TRUE(admin->privileged());
  EXPECT_FALSE(ledger.user({.name = "admin", .groups = {}})->privileged());
}

TEST(ClientLedgerTest, TheOldestStrangerGivesWay) {
  ClientLedger ledger(small());
  std::vector<int> evicted;
  std::vector<std::unique_ptr<ClientLedger::Ticket>> tickets;
  for (int i = 0; i < 6; ++i) {
    tickets.push_back(ledger.accept("10.0.0.1"));
    ASSERT_NE(tickets.back(), nullptr) << i;
    tickets.back()->set_evict([&evicted, i] { evicted.push_back(i); });
  }
  EXPECT_EQ(evicted, (std::vector<int>{0, 1}));
  EXPECT_EQ(ledger.total().used(Resource::Connections), 4);
  EXPECT_FALSE(tickets[0]->prove(ledger.user(kJane))) << "too late";
  tickets.clear();
  EXPECT_EQ(ledger.total().used(Resource::Connections), 0);
}

TEST(ClientLedgerTest, WhoIsKnownStays) {
  ClientLedger ledger(small());
  const AccountPtr jane = ledger.user(kJane);
  const AccountPtr joe = ledger.user(kJoe);
  const AccountPtr admin = ledger.user(kAdmin);
  std::vector<std::unique_ptr<ClientLedger::Ticket>> tickets;
  const auto connect = [&](const AccountPtr& user) {
    auto ticket = ledger.accept("10.0.0.1");
    if (!ticket || !ticket->prove(user)) return false;
    tickets.push_back(std::move(ticket));
    return true;
  };
  EXPECT_TRUE(connect(jane));
  EXPECT_TRUE(connect(jane));
  EXPECT_FALSE(connect(jane)) << "each has two";
  EXPECT_TRUE(connect(joe));
  EXPECT_TRUE(connect(joe));
  EXPECT_FALSE(connect(ledger.user({.name = "jim", .groups = {}}))) << "all four are in use";
  EXPECT_TRUE(connect(admin)) << "one is reserved";
  EXPECT_EQ(ledger.accept("10.0.0.2"), nullptr) << "nobody to evict";
  tickets.pop_back();
  EXPECT_NE(ledger.accept("10.0.0.2"), nullptr);
}

TEST(ClientLedgerTest, ALongListNeedsRoomForItself) {
  const ClientLimits limits;
  const ClientLedger ledger(limits);
  const AccountPtr greedy = ledger.user({.name = "greedy", .groups = {}});
  const AccountPtr other = ledger.user({.name = "other", .groups = {}});
  const std::size_t each = limits.bytes.each;
  EXPECT_TRUE(ledger.has_room_for_long(*greedy, 20 * each)) << "alone, however long it is";
  Hold page = ledger.hold_bytes(greedy, nullptr);
  page.resize(each / 2);
  EXPECT_FALSE(ledger.has_room_for_long(*greedy, 20 * each)) << "beside another one of its own";
  EXPECT_TRUE(ledger.has_room_for_long(*other, 20 * each));
  page.resize(each);
  Hold second = ledger.hold_bytes(other, nullptr);
  second.resize(each);
  const AccountPtr third = ledger.user({.name = "third", .groups = {}});
  EXPECT_TRUE(ledger.has_room(*third, Resource::Bytes)) << "somebody who asks for little";
  EXPECT_FALSE(ledger.has_room_for_long(*third, 20 * each)) << "but not for all that is left";
  EXPECT_TRUE(ledger.has_room_for_long(Account(/*privileged=*/true), 20 * each));
}

TEST(ClientLedgerTest, AFewLongListsAreWrittenAtATime) {
  const ClientLedger ledger(ClientLimits{});
  const Account user;
  const Account admin(/*privileged=*/true);
  constexpr std::size_t kLong = 20U << 20U;
  EXPECT_FALSE(ClientLedger::is_long(1U << 20U));
  EXPECT_TRUE(ClientLedger::is_long(kLong));
  std::vector<std::shared_ptr<void>> places;
  while (ledger.has_long_place(user, kLong)) {
    places.push_back(ledger.hold_long_place(user, kLong));
    ASSERT_TRUE(places.back());
    ASSERT_LE(places.size(), 10U);
  }
  EXPECT_GE(places.size(), 2U);
  EXPECT_FALSE(ledger.hold_long_place(user, kLong));
  EXPECT_TRUE(ledger.has_long_place(admin, kLong));
  EXPECT_TRUE(ledger.hold_long_place(admin, kLong));
  places.pop_back();
  EXPECT_TRUE(ledger.has_long_place(user, kLong));
}

// They begin in the same instant, before any of them holds what it is going to write.
TEST(ClientLedgerTest, LongListsThatBeginTogetherFitTogether) {
  const ClientLimits limits;
  const ClientLedger ledger(limits);
  const Account user;
  const std::size_t huge = 20 * limits.bytes.each;
  std::vector<std::shared_ptr<void>> places;
  while (auto place = ledger.hold_long_place(user, huge)) places.push_back(std::move(place));
  EXPECT_EQ(places.size(), (limits.bytes.total - limits.bytes.reserved) / limits.bytes.each);
  EXPECT_FALSE(ledger.has_long_place(user, huge));
  places.clear();
  EXPECT_TRUE(ledger.has_long_place(user, huge));
  const ClientLedger small({.bytes = {.total = 100, .each = 90, .reserved = 50}});
  EXPECT_TRUE(small.hold_long_place(user, huge)) << "one alone, whatever the limits";
}

TEST(ClientLedgerTest, AHoldIsAlsoCountedForItsConnection) {
  const ClientLedger ledger(small());
  const auto connection = std::make_shared<Account>();
  Hold hold = ledger.hold_bytes(ledger.user(kJane), connection);
  hold.resize(70);
  EXPECT_EQ(hold.amount(), 70U);
  EXPECT_EQ(connection->used(Resource::Bytes), 70);
  Hold& same = hold;
  hold = std::move(same);
  EXPECT_EQ(hold.amount(), 70U);
  Hold other = ledger.hold_bytes(ledger.user(kJoe), nullptr);
  other.resize(5);
  other = std::move(hold);
  EXPECT_EQ(ledger.user(kJoe)->used(Resource::Bytes), 0) << "its own was let go";
  EXPECT_EQ(connection->used(Resource::Bytes), 70);
  EXPECT_EQ(ledger.total().used(Resource::Bytes), 60);
}

TEST(ClientLedgerTest, AllTogetherMayHoldAShareMoreThanTheTotal) {
  const ClientLedger ledger(small());
  std::vector<Hold> holds;
  for (const std::size_t bytes : {60, 60, 40}) {
    holds.push_back(ledger.hold_bytes(ledger.user(kJane), nullptr));
    holds.back().resize(bytes);
  }
  EXPECT_FALSE(ledger.is_overdrawn()) << "160";
  holds.back().resize(41);
  EXPECT_TRUE(ledger.is_overdrawn());
}

TEST(ClientLedgerTest, EachResourceHasItsShare) {
  ClientLimits limits;
  limits.writes = {.total = 9, .each = 2, .reserved = 0};
  limits.watches = {.total = 9, .each = 3, .reserved = 0};
  limits.streams = {.total = 9, .each = 4, .reserved = 0};
  const ClientLedger ledger(limits);
  const auto most = [&](Resource what) {
    std::vector<Hold> held;
    while (std::optional<Hold> one = ledger.hold_one(ledger.user(kJane), what))
      held.push_back(*std::move(one));
    return held.size();
  };
  EXPECT_EQ(most(Resource::Writes), 2U);
  EXPECT_EQ(most(Resource::Watches), 3U);
  EXPECT_EQ(most(Resource::Streams), 3U) << "no more than a third of all";
  EXPECT_EQ(ledger.total().used(Resource::Streams), 0);
}

TEST(ClientLedgerTest, TheLastOneThatIsFreeMayBeTaken) {
  ClientLimits limits;
  limits.writes = {.total = 2, .each = 2, .reserved = 1};
  const ClientLedger ledger(limits);
  const std::optional<Hold> one = ledger.hold_one(ledger.user(kJane), Resource::Writes);
  EXPECT_TRUE(one);
  EXPECT_FALSE(ledger.hold_one(ledger.user(kJoe), Resource::Writes)) << "the other is reserved";
  const AccountPtr admin = ledger.user(kAdmin);
  const std::optional<Hold> reserved = ledger.hold_one(admin, Resource::Writes);
  EXPECT_TRUE(reserved);
  EXPECT_FALSE(ledger.hold_one(admin, Resource::Writes)) << "there are no more";
}

TEST(ClientLedgerTest, AStrangerGivesWayToOthersOfItsOwnAddressFirst) {
  ClientLimits limits = small();
  limits.connections_per_address = 1;  // and the one that is reserved
  ClientLedger ledger(limits);
  std::vector<std::string> evicted;
  std::vector<std::unique_ptr<ClientLedger::Ticket>> tickets;
  const auto connect = [&](const std::string& address) {
    tickets.push_back(ledger.accept(address));
    if (tickets.back() != nullptr)
      tickets.back()->set_evict([&evicted, address] { evicted.push_back(address); });
    return tickets.back() != nullptr;
  };
  EXPECT_TRUE(connect("a") && connect("b") && connect("b"));
  EXPECT_EQ(evicted, std::vector<std::string>{});
  EXPECT_TRUE(connect("b"));
  EXPECT_EQ(evicted, std::vector<std::string>{"b"});
  EXPECT_TRUE(connect("c"));
  EXPECT_TRUE(connect("d")) << "four are unproven";
  EXPECT_EQ(evicted, (std::vector<std::string>{"b", "a"})) << "the oldest of all";
}

TEST(ClientLedgerTest, WhoIsEvictedBeforeAnybodyListensHearsOfItThen) {
  ClientLimits limits = small();
  limits.connections_unproven = 1;
  ClientLedger ledger(limits);
  const auto first = ledger.accept("a");
  const auto second = ledger.accept("b");
  ASSERT_NE(second, nullptr);
  int told = 0;
  first->set_evict([&] { ++told; });
  EXPECT_EQ(told, 1);
  second->set_evict([&] { ++told; });
  EXPECT_EQ(told, 1) << "this one stays";
}

TEST(ClientLedgerTest, AConnectionBelongsToTheFirstUserWhoProvesIt) {
  ClientLedger ledger(small());
  const AccountPtr jane = ledger.user(kJane);
  const AccountPtr joe = ledger.user(kJoe);
  auto ticket = ledger.accept("a");
  EXPECT_EQ(ticket->address()->used(Resource::Connections), 1);
  EXPECT_TRUE(ticket->prove(jane));
  EXPECT_TRUE(ticket->prove(joe));
  EXPECT_EQ(jane->used(Resource::Connections), 1);
  EXPECT_EQ(joe->used(Resource::Connections), 0);
  ticket.reset();
  EXPECT_EQ(jane->used(Resource::Connections), 0);
}

TEST(ClientLedgerTest, AnAddressHasABoundForAllButAdministrators) {
  ClientLimits limits = small();
  limits.connections = {.total = 10, .each = 10, .reserved = 2};
  limits.connections_per_address = 1;
  ClientLedger ledger(limits);
  const auto first = ledger.accept("a");
  EXPECT_TRUE(first->prove(ledger.user(kJane)));
  const auto second = ledger.accept("a");
  EXPECT_FALSE(second->prove(ledger.user(kJane)));
  EXPECT_TRUE(second->prove(ledger.user(kAdmin)));
  const auto elsewhere = ledger.accept("b");
  EXPECT_TRUE(elsewhere->prove(ledger.user(kJane)));
}

}  // namespace
}  // namespace muster::server
