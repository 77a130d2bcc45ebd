#include "controllers/composite_protection.h"

#include <fmt/format.h>

#include "controllers/controllers_testing.h"

namespace muster::controllers {
namespace {

constexpr Time kStart{std::chrono::hours{24}};

class CompositeProtectionTest : public testing::Test {
 protected:
  const api::Kind& composite_kind_ = api::kinds::composite_pod_group();
  const api::Kind& group_kind_ = api::kinds::pod_group();
  Sent sent_;
  Metrics metrics_;
  CompositeProtection controller_{
      client::ComponentContext{.send = sent_.context().send, .metrics = &metrics_}};
  std::size_t looks_ = 0;

  void SetUp() override { tell(client::Synced{}); }
  void tell(client::Input input) { controller_.apply(std::move(input), kStart); }
  std::size_t objects_read() const {
    const std::string text = metrics_.text();
    const std::string_view line =
        R"(muster_controller_objects_read_total{name="compositepodgroup-protection"} )";
    const std::size_t at = text.find(line);
    EXPECT_NE(at, std::string::npos) << text;
    return static_cast<std::size_t>(std::stod(text.substr(at + line.size())));
  }
  // The names of the composites that were let go.
  Texts run() {
    while (controller_.run_once(kStart, 1) > 0) ++looks_;
    Texts names;
    for (const std::string& text : sent_.new_texts())
      names.push_back(text.substr(0, text.find(' ')));
    return names;
  }
  void tell(Type type, const api::Kind& kind, std::string_view name, std::string_view parent,
            std::string_view more) {
    const std::string link =
        parent.empty() ? "" : fmt::format(R"("parentCompositePodGroupName":"{}")", parent);
    tell(client::Event{type,
                       object(kind, fmt::format(R"({{"metadata":{{"name":"{}","namespace":"lab",)"
                                                R"("uid":"u-{}"{}}},"spec":{{{}}}}})",
                                                name, name, more, link))});
  }
  void composite(std::string_view name, std::string_view parent) {
    tell(Type::Added, composite_kind_, name, parent,
         R"(,"finalizers":["scheduling.muster.dev/compositepodgroup-protection"])");
  }
  void delete_composite(std::string_view name, std::string_view parent) {
    tell(Type::Modified, composite_kind_, name, parent,
         R"(,"deletionTimestamp":"2026-08-20T10:00:00Z",)"
         R"("finalizers":["scheduling.muster.dev/compositepodgroup-protection"])");
  }
};

// A server that is not ours adds no finalizer of ours when a composite is made.
TEST_F(CompositeProtectionTest, ProtectsCompositesThatLackTheFinalizerOnce) {
  tell(Type::Added, composite_kind_, "root", "", "");
  EXPECT_EQ(run(), Texts{"lab/root"});
  EXPECT_EQ(
      api::to_text(sent_.requests.back().first.body),
      R"({"metadata":{"uid":"u-root","finalizers":["scheduling.muster.dev/compositepodgroup-protection"]}})");
  tell(Type::Modified, composite_kind_, "root", "", R"(,"labels":{"a":"b"})");
  EXPECT_EQ(run(), Texts{}) << "the first patch is still under way";
  tell(client::Called{sent_.requests.back().second, api::Answer{}});
  tell(Type::Modified, composite_kind_, "root", "", R"(,"labels":{"a":"c"})");
  EXPECT_EQ(run(), Texts{}) << "the feed is behind the patch";
  composite("root", "");
  delete_composite("root", "");
  EXPECT_EQ(run(), Texts{"lab/root"});
}

TEST_F(CompositeProtectionTest, ANamesakeIsProtectedAnew) {
  tell(Type::Added, composite_kind_, "root", "", "");
  EXPECT_EQ(run(), Texts{"lab/root"});
  tell(client::Called{sent_.requests.back().second, api::Answer{}});
  tell(Type::Deleted, composite_kind_, "root", "", "");
  EXPECT_EQ(run(), Texts{});
  tell(Type::Added, composite_kind_, "root", "", "");
  EXPECT_EQ(run(), Texts{"lab/root"}) << "another one, after it was seen to go";
}

TEST_F(CompositeProtectionTest, ProtectsAgainWhoLostItsFinalizer) {
  tell(Type::Added, composite_kind_, "root", "", "");
  EXPECT_EQ(run(), Texts{"lab/root"});
  tell(client::Called{sent_.requests.back().second, api::Answer{}});
  composite("root", "");
  EXPECT_EQ(run(), Texts{});
  tell(Type::Modified, composite_kind_, "root", "", "");
  EXPECT_EQ(run(), Texts{"lab/root"});
}

TEST_F(CompositeProtectionTest, DoesNotHoldACompositeThatIsLeavingWithoutIt) {
  tell(Type::Added, composite_kind_, "root", "",
       R"(,"deletionTimestamp":"2026-08-20T10:00:00Z","finalizers":["example.com/other"])");
  EXPECT_EQ(run(), Texts{});
}

TEST_F(CompositeProtectionTest, LetsAChildlessCompositeGo) {
  delete_composite("root", "");
  EXPECT_EQ(run(), Texts{"lab/root"});
  EXPECT_EQ(api::to_text(sent_.requests.back().first.body),
            R"({"metadata":{"uid":"u-root","$deleteFromPrimitiveList/finalizers":)"
            R"(["scheduling.muster.dev/compositepodgroup-protection"]}})");
}

TEST_F(CompositeProtectionTest, ATreeGoesBottomUp) {
  delete_composite("root", "");
  delete_composite("replica", "root");
  tell(Type::Added, group_kind_, "prefill", "replica", "");
  EXPECT_EQ(run(), Texts{});
  tell(Type::Deleted, group_kind_, "prefill", "replica", "");
  EXPECT_EQ(run(), Texts{"lab/replica"});
  tell(Type::Deleted, composite_kind_, "replica", "root", "");
  EXPECT_EQ(run(), Texts{"lab/root"});
}

TEST_F(CompositeProtectionTest, APodGroupOfTheSameNameIsAnotherChild) {
  delete_composite("root", "");
  composite("a", "root");
  tell(Type::Added, group_kind_, "a", "root", "");
  tell(Type::Deleted, composite_kind_, "a", "root", "");
  EXPECT_EQ(run(), Texts{});
  tell(Type::Deleted, group_kind_, "a", "root", "");
  EXPECT_EQ(run(), Texts{"lab/root"});
}

TEST_F(CompositeProtectionTest, GroupsThatAreEachOthersParentsDoNotHoldEachOther) {
  delete_composite("own", "own");
  EXPECT_EQ(run(), Texts{"lab/own"});
  composite("b", "a");
  composite("c", "b");
  delete_composite("a", "c");
  EXPECT_EQ(run(), Texts{"lab/a"});
}

// All are deleted at once, and each is shown to have gone before the next is let go.
TEST_F(CompositeProtectionTest, ALongChainGoesInAsManyLooksAsItHasGroups) {
  constexpr std::size_t kCount = 1500;
  const auto name = [](std::size_t i) { return i == 0 ? "" : fmt::format("c{}", i); };
  for (std::size_t i = 1; i <= kCount; ++i) composite(name(i), name(i - 1));
  for (std::size_t i = 1; i <= kCount; ++i) delete_composite(name(i), name(i - 1));
  for (std::size_t i = kCount; i > 0; --i) {
    ASSERT_EQ(run(), Texts{"lab/" + name(i)});
    tell(Type::Deleted, composite_kind_, name(i), name(i - 1), "");
  }
  EXPECT_LE(looks_, 4 * kCount);
  EXPECT_LE(objects_read(), 8 * kCount);
}

TEST_F(CompositeProtectionTest, ALongCircleGoesInAsManyLooksAsItHasGroups) {
  constexpr std::size_t kCount = 1500;
  const auto name = [](std::size_t i) { return fmt::format("c{}", i % kCount); };
  for (std::size_t i = 0; i < kCount; ++i) composite(name(i), name(i + 1));
  for (std::size_t i = 0; i < kCount; ++i) delete_composite(name(i), name(i + 1));
  EXPECT_EQ(run().size(), kCount);
  for (std::size_t i = 0; i < kCount; ++i)
    tell(Type::Deleted, composite_kind_, name(i), name(i + 1), "");
  EXPECT_EQ(run(), Texts{});
  EXPECT_LE(looks_, 4 * kCount);
  EXPECT_LE(objects_read(), 8 * kCount);
}

// Two that are each other's parents, and chains below them: the way up from there has no end.
TEST_F(CompositeProtectionTest, ACircleBesideManyCostsAsMuchAsOneAlone) {
  constexpr std::size_t kCount = 1000;
  const auto name = [](char letter, std::size_t i) { return fmt::format("{}{}", letter, i); };
  composite("a", "b");
  composite("b", "a");
  for (std::size_t i = 0; i < kCount; ++i) {
    composite(name('d', i), name('c', i));
    delete_composite(name('c', i), "a");
  }
  delete_composite("b", "a");
  delete_composite("a", "b");
  EXPECT_EQ(run(), Texts{"lab/b"});
  for (std::size_t i = 0; i < kCount; ++i)
    tell(Type::Deleted, composite_kind_, name('d', i), name('c', i), "");
  EXPECT_EQ(run().size(), kCount);
  for (std::size_t i = 0; i < kCount; ++i)
    tell(Type::Deleted, composite_kind_, name('c', i), "a", "");
  EXPECT_EQ(run(), Texts{"lab/a"});
  EXPECT_LE(looks_, 6 * kCount);
  EXPECT_LE(objects_read(), 12 * kCount);
}

TEST_F(CompositeProtectionTest, AllThatWaitOnACircleGoWhenItCloses) {
  composite("b", "a");
  delete_composite("c", "b");
  delete_composite("d", "c");
  composite("below", "d");
  tell(Type::Added, group_kind_, "leaf", "e", "");
  delete_composite("e", "d");
  EXPECT_EQ(run(), Texts{});
  tell(Type::Deleted, composite_kind_, "below", "d", "");
  EXPECT_EQ(run(), Texts{});
  composite("a", "e");
  EXPECT_EQ(run(), (Texts{"lab/c", "lab/d"}));  // e has a pod group
  tell(Type::Deleted, group_kind_, "leaf", "e", "");
  EXPECT_EQ(run(), Texts{"lab/e"});
}

TEST_F(CompositeProtectionTest, AChildBelowACycleStillHolds) {
  composite("b", "a");
  tell(Type::Added, group_kind_, "leaf", "a", "");
  delete_composite("a", "b");
  EXPECT_EQ(run(), Texts{});
  tell(Type::Deleted, group_kind_, "leaf", "a", "");
  EXPECT_EQ(run(), Texts{"lab/a"});
}

}  // namespace
}  // namespace muster::controllers
