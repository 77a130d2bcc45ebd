#include "controllers/namespace_defaults.h"

#include <fmt/format.h>

#include "controllers/controllers_testing.h"

namespace muster::controllers {
namespace {

class NamespaceDefaultsTest : public ::testing::Test {
 protected:
  void tell(Type type, const api::Kind& kind, std::string_view json) {
    defaults_.apply(client::Event{.type = type, .object = object(kind, json)}, now_);
  }
  void name_space(Type type, std::string_view members = "") {
    tell(type, api::kinds::name_space(),
         fmt::format(R"({{"metadata":{{"name":"team"{}}}}})", members));
  }
  void account(Type type) {
    tell(type, *api::find_kind("", "ServiceAccount"),
         R"({"metadata":{"name":"default","namespace":"team"}})");
  }
  void map(Type type, std::string_view certificate) {
    tell(type, *api::find_kind("", "ConfigMap"),
         fmt::format(R"({{"metadata":{{"name":"kube-root-ca.crt","namespace":"team"}},)"
                     R"("data":{{"ca.crt":"{}"}}}})",
                     certificate));
  }
  // "create serviceaccounts", "patch configmaps"
  Texts asked() {
    while (defaults_.run_once(now_, 100) > 0) {
    }
    Texts out;
    for (; told_ < sent_.requests.size(); ++told_) {
      const api::Request& request = sent_.requests[told_].first;
      EXPECT_EQ(request.name_space, "team");
      out.push_back((request.verb == api::Verb::Create ? "create " : "patch ") +
                    request.kind->plural);
    }
    return out;
  }
  void answer() {
    defaults_.apply(
        client::Called{.ticket = sent_.requests.back().second, .outcome = api::Answer{}}, now_);
  }

  Time now_{};
  Sent sent_;
  std::size_t told_ = 0;
  NamespaceDefaults defaults_{"PEM", sent_.context()};
};

TEST_F(NamespaceDefaultsTest, ANewNamespaceGetsItsAccountAndCertificate) {
  name_space(Type::Added);
  EXPECT_EQ(asked(), Texts{});
  defaults_.apply(client::Synced{}, now_);
  EXPECT_EQ(asked(), Texts{"create serviceaccounts"});
  account(Type::Added);
  answer();
  EXPECT_EQ(asked(), Texts{"create configmaps"});
  EXPECT_EQ(api::to_text(*api::find(sent_.requests.back().first.body, "data")),
            R"({"ca.crt":"PEM"})");
  map(Type::Added, "PEM");
  answer();
  EXPECT_EQ(asked(), Texts{});
}

TEST_F(NamespaceDefaultsTest, WhatIsLostOrChangedComesBack) {
  defaults_.apply(client::Synced{}, now_);
  account(Type::Added);
  map(Type::Added, "PEM");
  name_space(Type::Added);
  EXPECT_EQ(asked(), Texts{});
  map(Type::Modified, "other");
  EXPECT_EQ(asked(), Texts{"patch configmaps"});
  map(Type::Modified, "PEM");
  answer();
  account(Type::Deleted);
  EXPECT_EQ(asked(), Texts{"create serviceaccounts"});
}

TEST_F(NamespaceDefaultsTest, AMapWithoutDataIsCorrectedAndOtherObjectsAreNot) {
  defaults_.apply(client::Synced{}, now_);
  account(Type::Added);
  map(Type::Added, "PEM");
  name_space(Type::Added);
  tell(Type::Added, *api::find_kind("", "ConfigMap"),
       R"({"metadata":{"name":"other","namespace":"team"}})");
  tell(Type::Deleted, *api::find_kind("", "ServiceAccount"),
       R"({"metadata":{"name":"other","namespace":"team"}})");
  EXPECT_EQ(asked(), Texts{});
  tell(Type::Modified, *api::find_kind("", "ConfigMap"),
       R"({"metadata":{"name":"kube-root-ca.crt","namespace":"team"}})");
  EXPECT_EQ(asked(), Texts{"patch configmaps"});
  EXPECT_EQ(api::to_text(sent_.requests.back().first.body),
            R"([{"op":"add","path":"/data","value":{"ca.crt":"PEM"}}])");
}

TEST_F(NamespaceDefaultsTest, ANamespaceThatGoesGetsNothing) {
  defaults_.apply(client::Synced{}, now_);
  name_space(Type::Added, R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")");
  EXPECT_EQ(asked(), Texts{});
  name_space(Type::Deleted);
  EXPECT_EQ(asked(), Texts{});
}

TEST_F(NamespaceDefaultsTest, ARefusalIsTriedAgain) {
  defaults_.apply(client::Synced{}, now_);
  name_space(Type::Added);
  EXPECT_EQ(asked(), Texts{"create serviceaccounts"});
  defaults_.apply(client::Called{.ticket = sent_.requests.back().second,
                                 .outcome = fail(Reason::ServiceUnavailable, "no")},
                  now_);
  EXPECT_EQ(asked(), Texts{});
  now_ = *defaults_.next_deadline();
  EXPECT_EQ(asked(), Texts{"create serviceaccounts"});
}

}  // namespace
}  // namespace muster::controllers
