#include <string>
#include <vector>

#include "server/core/testing/core_fixture.h"

// Whoever writes roles is asked about first: nobody may give away what they do not hold.
namespace muster::server {
namespace {

class GrantsTest : public CoreTest {
 protected:
  GrantsTest() {
    registry_.guard_roles([this](const api::Request& request, const api::Json& document,
                                 const api::Json* old) -> Result<void> {
      asked_ += request.kind->kind + " " +
                std::string(api::find_string(document.at("metadata"), "name")) +
                (old == nullptr ? " made; " : " changed; ");
      if (refuses_) return fail(Reason::Forbidden, "not held");
      return {};
    });
  }
  static const api::Kind& roles() { return *api::find_kind("rbac.authorization.k8s.io", "Role"); }

  std::string asked_;
  bool refuses_ = false;
};

TEST_F(GrantsTest, ItsGuardIsAskedAboutRolesAndNothingElse) {
  ASSERT_TRUE(create_pod("web"));
  ASSERT_TRUE(merge(pods(), "default", "web", R"({"metadata":{"labels":{"a":"b"}}})"));
  EXPECT_EQ(asked_, "");
  ASSERT_TRUE(create(roles(), "default", R"({"metadata":{"name":"r"}})"));
  ASSERT_TRUE(merge(roles(), "default", "r", R"({"metadata":{"labels":{"a":"b"}}})"));
  EXPECT_EQ(asked_, "Role r made; Role r changed; ");
}

TEST_F(GrantsTest, WhatItRefusesIsNotWritten) {
  ASSERT_TRUE(create(roles(), "default", R"({"metadata":{"name":"r"}})"));
  refuses_ = true;
  EXPECT_EQ(message(create(roles(), "default", R"({"metadata":{"name":"s"}})")), "not held");
  EXPECT_EQ(message(merge(roles(), "default", "r", R"({"metadata":{"labels":{"a":"b"}}})")),
            "not held");
  EXPECT_EQ(names(list(roles(), "default")), "r");
  EXPECT_EQ(at(get(roles(), "default", "r"), "metadata.labels"), "");
}

}  // namespace
}  // namespace muster::server
