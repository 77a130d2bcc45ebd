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
  CompositeProtection controller_{sent_.context()};

  void SetUp() override { tell(client::Synced{}); }
  void tell(client::Input input) { controller_.apply(std::move(input), kStart); }
  // The names of the composites that were let go.
  Texts run() {
    while (controller_.run_once(kStart, 1) > 0) {
    }
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
    tell(Type::Added, composite_kind_, name, parent, "");
  }
  void delete_composite(std::string_view name, std::string_view parent) {
    tell(Type::Modified, composite_kind_, name, parent,
         R"(,"deletionTimestamp":"2026-08-20T10:00:00Z",)"
         R"("finalizers":["scheduling.muster.dev/compositepodgroup-protection"])");
  }
};

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
