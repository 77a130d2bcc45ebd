#include "app/served_gates.h"

#include <gtest/gtest.h>

namespace muster::app {
namespace {

using api::Gate;
using api::Gates;

client::ServedKinds served_without(std::initializer_list<const api::Kind*> kinds) {
  client::ServedKinds served = client::ServedKinds::ours();
  for (const api::Kind* kind : kinds) served.remove(*kind);
  return served;
}

constexpr Gate kOfGroups[] = {Gate::GenericWorkload, Gate::TopologyAwareWorkloadScheduling,
                              Gate::CompositePodGroup, Gate::PodGroupPreemptionPolicy,
                              Gate::WorkloadWithJob};

TEST(ServedGates, WhatIsServedStaysAsTheUserSays) {
  const client::ServedKinds all = client::ServedKinds::ours();
  const Gates said = Gates().without(Gate::WorkloadWithJob).with(Gate::DRAWorkloadResourceClaims);
  EXPECT_EQ(gates_of_scheduler(all, said), said);
  EXPECT_EQ(gates_of_controllers(all, said), said);
}

// A cluster as it comes: its Jobs run as if there were no groups.
TEST(ServedGates, WithoutGroupsNothingAboutThemIsOn) {
  const client::ServedKinds stock = served_without(
      {&api::kinds::workload(), &api::kinds::pod_group(), &api::kinds::composite_pod_group()});
  const Gates asked = Gates().with(Gate::DRAWorkloadResourceClaims);
  for (const Gates& gates :
       {gates_of_scheduler(stock, asked), gates_of_controllers(stock, asked)}) {
    for (const Gate gate : kOfGroups) EXPECT_FALSE(gates.on(gate)) << api::gate_name(gate);
    EXPECT_FALSE(gates.on(Gate::DRAWorkloadResourceClaims));
    EXPECT_TRUE(gates.on(Gate::OpportunisticBatching));
  }
}

TEST(ServedGates, WithoutCompositesOnlyTheyAreOff) {
  const client::ServedKinds flat = served_without({&api::kinds::composite_pod_group()});
  const Gates want = Gates().without(Gate::CompositePodGroup);
  EXPECT_EQ(gates_of_scheduler(flat, Gates()), want);
  EXPECT_EQ(gates_of_controllers(flat, Gates()), want);
}

// The scheduler needs no Workload to place a group; controllers make none without it.
TEST(ServedGates, WithoutWorkloadsNobodyMakesGroups) {
  const client::ServedKinds served = served_without({&api::kinds::workload()});
  EXPECT_EQ(gates_of_scheduler(served, Gates()), Gates());
  const Gates gates = gates_of_controllers(served, Gates());
  for (const Gate gate : kOfGroups) EXPECT_FALSE(gates.on(gate)) << api::gate_name(gate);
}

}  // namespace
}  // namespace muster::app
