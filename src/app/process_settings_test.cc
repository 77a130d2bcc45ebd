#include "app/process_settings.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>

namespace muster::app {
namespace {

using std::chrono::seconds;

std::string complaint(std::string_view text) {
  RemoteProcessOptions options;
  const auto read = read_process_settings(text, options);
  return read ? "" : read.error().message;
}

TEST(ProcessSettingsTest, WhatIsLeftOutStays) {
  RemoteProcessOptions options;
  options.election.name = "muster-scheduler";
  ASSERT_TRUE(read_process_settings("", options));
  ASSERT_TRUE(read_process_settings("kind: KubeSchedulerConfiguration", options));
  EXPECT_TRUE(options.election.on);
  EXPECT_EQ(options.election.name, "muster-scheduler");
  EXPECT_EQ(options.election.lease_duration, seconds{15});
  EXPECT_EQ(options.rate.per_second, 50);
  EXPECT_EQ(options.rate.burst, 100);
}

TEST(ProcessSettingsTest, ReadsElectionAndConnection) {
  RemoteProcessOptions options;
  const auto read = read_process_settings(R"(
leaderElection: {leaderElect: false, leaseDuration: 1m0s, renewDeadline: 40s, retryPeriod: 5s,
  resourceName: mine, resourceNamespace: here, resourceLock: leases}
clientConnection: {qps: 12.5, burst: 30, kubeconfig: /etc/config})",
                                          options);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->kubeconfig, "/etc/config");
  EXPECT_FALSE(options.election.on);
  EXPECT_EQ(options.election.lease_duration, seconds{60});
  EXPECT_EQ(options.election.renew_deadline, seconds{40});
  EXPECT_EQ(options.election.retry_period, seconds{5});
  EXPECT_EQ(options.election.name, "mine");
  EXPECT_EQ(options.election.name_space, "here");
  EXPECT_EQ(options.rate.per_second, 12.5);
  EXPECT_EQ(options.rate.burst, 30);
}

TEST(ProcessSettingsTest, SaysWhichFieldIsWrong) {
  EXPECT_EQ(complaint("leaderElection: {leaseDuration: soon}"),
            "leaderElection.leaseDuration: \"soon\" is no length of time; write e.g. 15s");
  EXPECT_EQ(complaint("leaderElection: {leaseDuration: 10s}"),
            "leaderElection.leaseDuration: must be greater than RenewDeadline");
  EXPECT_EQ(complaint("leaderElection: {retryPeriod: 9s}"),
            "leaderElection.renewDeadline: must be greater than RetryPeriod * 1.2");
  EXPECT_EQ(complaint("leaderElection: {resourceLock: endpoints}"),
            "leaderElection.resourceLock: endpoints is not supported; write leases");
  EXPECT_EQ(complaint("clientConnection: {qps: fast}"),
            "clientConnection.qps: \"fast\" is no number");
  EXPECT_EQ(complaint("clientConnection: {burst: -1}"),
            "clientConnection.burst: -1 must be from 0 to 1000000");
}

RemoteProcessOptions::Election election_of(std::string_view text, bool serves_default_scheduler) {
  RemoteProcessOptions options;
  options.election.name = usual_lease(serves_default_scheduler);
  EXPECT_TRUE(read_process_settings(text, options));
  return options.election;
}

// Two that serve default-scheduler under different leases decide about the same pods at once.
TEST(ProcessSettingsTest, DefaultSchedulerIsServedUnderTheLeaseOfKubeSchedulerOnly) {
  struct Case {
    std::string_view text;
    bool serves_default_scheduler;
    std::string_view lease;
    bool is_accepted;
  };
  constexpr std::string_view kNamed = "leaderElection: {resourceName: muster-scheduler}";
  for (const Case& each : std::initializer_list<Case>{
           {"", false, "muster-scheduler", true},
           {"", true, "kube-scheduler", true},
           {"leaderElection: {leaderElect: true}", true, "kube-scheduler", true},
           {"leaderElection: {resourceName: kube-scheduler, resourceNamespace: kube-system}", true,
            "kube-scheduler", true},
           {kNamed, false, "muster-scheduler", true},
           {kNamed, true, "muster-scheduler", false},
           {"leaderElection: {resourceNamespace: elsewhere}", true, "kube-scheduler", false},
           {"leaderElection: {leaderElect: false, resourceName: mine}", true, "mine", true}}) {
    const auto election = election_of(each.text, each.serves_default_scheduler);
    EXPECT_EQ(election.name, each.lease) << each.text;
    const Result<void> checked = check_lease(election, each.serves_default_scheduler);
    EXPECT_EQ(checked.has_value(), each.is_accepted) << each.text;
    if (checked || each.text != kNamed) continue;
    EXPECT_EQ(checked.error().message,
              "default-scheduler is served under the lease kube-system/muster-scheduler, which "
              "keeps no kube-scheduler from deciding about the same pods: remove "
              "leaderElection.resourceName, leaderElection.resourceNamespace and "
              "--leader-elect-resource-name, so that the lease is kube-system/kube-scheduler, or "
              "give the profile another schedulerName");
  }
}

}  // namespace
}  // namespace muster::app
