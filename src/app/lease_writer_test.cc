#include "app/lease_writer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "client/client.h"
#include "client/https/https_client.h"
#include "client/https/site_testing.h"

namespace muster::app {
namespace {

class LeaseWriterTest : public ::testing::Test {
 protected:
  // What a program of this name does to the lease.
  void write(const std::string& program, const std::string& lease, const std::string& holder) {
    client::HttpsClient client =
        client::HttpsClient::open(client::config_for(site_), {.user_agent = program + "/v1"})
            .value();
    const api::Json spec =
        api::parse_json(
            fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"holderIdentity":"{}"}}}})", lease,
                        holder))
            ->value;
    const auto made = client.call(client::create_request(api::kinds::lease(), "kube-system", spec));
    if (made) return;
    ASSERT_TRUE(client.call(client::patch_request(api::kinds::lease(), "kube-system", lease, "",
                                                  api::PatchType::Merge, spec)));
  }
  api::ObjectPtr read(const std::string& lease) {
    client::HttpsClient client = client::HttpsClient::open(client::config_for(site_), {}).value();
    const Result<api::ListAnswer> leases = client.list(api::kinds::lease(), "kube-system");
    for (const api::ObjectPtr& each : leases->items)
      if (each->meta().name == lease) return each;
    return nullptr;
  }

  const server::testing::Site site_;
};

TEST_F(LeaseWriterTest, WhoHeldItLastIsOnRecord) {
  write("kube-scheduler", "kube-scheduler", "a_1");
  EXPECT_EQ(writer_of_holder(*read("kube-scheduler")), "kube-scheduler");
  EXPECT_FALSE(is_lease_of_muster(*read("kube-scheduler")));
  write("muster-scheduler", "kube-scheduler", "b_1");
  EXPECT_TRUE(is_lease_of_muster(*read("kube-scheduler")));
  write("muster-scheduler", "kube-scheduler", "");
  EXPECT_TRUE(is_lease_of_muster(*read("kube-scheduler"))) << "handed over to nobody yet";
  write("kube-scheduler", "kube-scheduler", "a_2");
  EXPECT_FALSE(is_lease_of_muster(*read("kube-scheduler")));
  write("kube-scheduler", "kube-scheduler", "");
  EXPECT_FALSE(is_lease_of_muster(*read("kube-scheduler"))) << "idle, and still another's";
}

TEST_F(LeaseWriterTest, TheNameOfALeaseSaysNothingAboutWhoHoldsIt) {
  write("kube-scheduler", "muster-scheduler", "a_1");
  EXPECT_FALSE(is_lease_of_muster(*read("muster-scheduler")));
  write("muster-controllers", "team-a", "b_1");
  EXPECT_TRUE(is_lease_of_muster(*read("team-a")));
}

TEST_F(LeaseWriterTest, WithoutARecordTheNameDecides) {
  const auto lease = [](std::string_view name) {
    return api::Object::make(
        api::kinds::lease(),
        api::parse_json(
            fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"holderIdentity":"a_1"}}}})",
                        name))
            ->value);
  };
  EXPECT_EQ(writer_of_holder(*lease("muster-scheduler")), "");
  EXPECT_TRUE(is_lease_of_muster(*lease("muster-scheduler")));
  EXPECT_FALSE(is_lease_of_muster(*lease("kube-scheduler")));
}

}  // namespace
}  // namespace muster::app
