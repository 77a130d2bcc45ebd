#include "api/tables/cells_testing.h"

// Rows of pods and groups, and what stands around rows.
namespace muster::api {
namespace {

TEST(PodCells, LookAtInitContainersInTheirOrder) {
  const std::string spec =
      R"("spec":{"containers":[{"name":"a"}],"initContainers":[{"name":"i"},{"name":"s","restartPolicy":"Always"}]},)";
  const auto pod = [&](std::string_view status) {
    return spec + fmt::format(R"("status":{{{}}})", status);
  };
  const auto want = [](std::string_view cells) {
    return fmt::format(R"(["x",{},"60m","<none>","<none>","<none>","<none>"])", cells);
  };
  const CellsCase cases[] = {
      {"", "Pod",
       pod(R"("phase":"Pending","initContainerStatuses":[{"name":"i","state":{"terminated":{"exitCode":0}}},
           {"name":"s","state":{"waiting":{"reason":"PodInitializing"}}}])"),
       want(R"("0/2","Init:1/2","0")")},
      {"", "Pod",
       pod(R"("phase":"Pending","initContainerStatuses":[{"name":"i","restartCount":1,"state":{"terminated":{"exitCode":1,"reason":"Error"}}},
           {"name":"s","state":{"waiting":{"reason":"ErrImagePull"}}}])"),
       want(R"("0/2","Init:Error","1")")},
      {"", "Pod",
       pod(R"("phase":"Pending","initContainerStatuses":[{"name":"i","state":{"terminated":{"exitCode":9,"signal":9}}}])"),
       want(R"("0/2","Init:Signal:9","0")")},
      {"", "Pod",
       pod(R"("phase":"Running","initContainerStatuses":[{"name":"i","state":{"terminated":{"exitCode":0}}},
           {"name":"s","started":true,"state":{"running":{}}}])"),
       want(R"("0/2","Running","0")")},
      {"", "Pod", pod(R"("phase":"Running","conditions":[{"type":"Initialized","status":"True"}],
           "initContainerStatuses":[{"name":"i","state":{"terminated":{"exitCode":0}}},
           {"name":"s","restartCount":2,"started":false,"state":{"waiting":{"reason":"CrashLoopBackOff"}},
            "lastState":{"terminated":{"finishedAt":"2026-01-01T00:50:00Z"}}}],
           "containerStatuses":[{"name":"a","ready":true,"restartCount":1,"state":{"running":{}},
            "lastState":{"terminated":{"finishedAt":"2026-01-01T00:40:00Z"}}}])"),
       want(R"--("1/2","Init:CrashLoopBackOff","3 (10m ago)")--")},
      {"", "Pod",
       pod(R"("phase":"Running","containerStatuses":[{"name":"a","ready":true,"state":{}}])"),
       want(R"("0/2","Running","0")")},
      {"", "Pod",
       pod(R"("phase":"Running","containerStatuses":[{"name":"a","restartCount":0,"state":{"running":{}},
            "lastState":{"terminated":{"finishedAt":"2026-01-01T00:40:00Z"}}}])"),
       want(R"("0/2","Running","0")")},
      {"", "Pod",
       pod(R"("phase":"Succeeded","containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":0,"reason":"Completed"}}}])"),
       want(R"("0/2","Completed","0")")},
  };
  check(cases);
}

TEST(GroupCells, ComeFromStatusAndPolicy) {
  constexpr std::string_view kUnknown = R"("<unknown>","<unknown>","<unknown>","<unknown>"])";
  const auto want = [&](std::string_view cells) {
    return fmt::format(R"(["x",{},{})", cells, kUnknown);
  };
  const CellsCase cases[] = {
      {"scheduling.k8s.io", "PodGroup", R"("spec":{"schedulingPolicy":{"gang":{"minCount":4}}})",
       want(R"("Gang","<none>","Pending","60m","4")")},
      {"scheduling.k8s.io", "PodGroup", R"("spec":{"schedulingPolicy":{"basic":{}}})",
       want(R"("Basic","<none>","Terminating","60m","<none>")"), kDeleting},
      {"scheduling.k8s.io", "PodGroup",
       R"("spec":{"schedulingPolicy":{"gang":{"minCount":9}}},"status":{"conditions":[
          {"type":"PodGroupInitiallyScheduled","status":"True"}]})",
       want(R"("Gang","<none>","Scheduled","60m","9")")},
      {"scheduling.k8s.io", "CompositePodGroup",
       R"("spec":{"schedulingPolicy":{"gang":{"minGroupCount":2}}},"status":{"conditions":[
          {"type":"CompositePodGroupInitiallyScheduled","status":"False"}]})",
       want(R"("Gang","<none>","Unschedulable","60m","2")")},
      {"scheduling.k8s.io", "Workload", "", R"(["x","60m"])"},
      {"scheduling.k8s.io", "PriorityClass",
       R"("value":-1,"preemptionPolicy":"PreemptLowerPriority")",
       R"(["x",-1,false,"60m","PreemptLowerPriority"])"},
  };
  check(cases);
}

TEST(GroupCells, SayWhatIsExtraOrInTheWay) {
  class Counter final : public GroupCounter {
   public:
    explicit Counter(GroupCounts counts) : counts_(std::move(counts)) {}
    std::optional<GroupCounts> count(const Object&) const override { return counts_; }

   private:
    GroupCounts counts_;
  };
  struct CountCase {
    std::string_view kind;
    bool scheduled;
    bool deleted;
    GroupCounts counts;
    std::string_view want;
  };
  const CountCase cases[] = {
      {"PodGroup",
       true,
       false,
       {.members = 3, .scheduled = 2},
       R"("Scheduled","60m","2","3","2","<none>","1 extra pod waits"])"},
      {"PodGroup",
       true,
       false,
       {.members = 2, .scheduled = 2},
       R"("Scheduled","60m","2","2","2","<none>","<none>"])"},
      {"PodGroup",
       false,
       false,
       {.members = 3, .scheduled = 0},
       R"("Pending","60m","2","3","0","<none>","<none>"])"},
      {"PodGroup",
       true,
       true,
       {.members = 1, .scheduled = 1, .domains = "r"},
       R"("Terminating","60m","2","1","1","r","goes now"])"},
      {"CompositePodGroup",
       true,
       false,
       {.members = 4, .scheduled = 2},
       R"("Scheduled","60m","2","4","2","<none>","2 extra groups wait"])"},
      {"CompositePodGroup",
       true,
       false,
       {.members = 3, .scheduled = 2},
       R"("Scheduled","60m","2","3","2","<none>","1 extra group waits"])"},
      {"CompositePodGroup",
       true,
       false,
       {.members = 3, .scheduled = 1},
       R"("BelowMinimum","60m","2","3","1","<none>","1 missing"])"},
  };
  for (const CountCase& c : cases) {
    const Kind& kind = *find_kind("scheduling.k8s.io", c.kind);
    const auto group = Object::make(
        kind,
        read_document(fmt::format(
            R"({{"metadata":{{"name":"x","creationTimestamp":"2026-01-01T00:00:00Z"{}}},"spec":{{"schedulingPolicy":
            {{"gang":{{"minCount":2,"minGroupCount":2}}}}}},"status":{{"conditions":[{}]}}}})",
            c.deleted ? kDeleting : "",
            c.scheduled
                ? fmt::format(R"({{"type":"{}InitiallyScheduled","status":"True"}})", c.kind)
                : "")));
    const Counter counter(c.counts);
    const TableRow rows[] = {{group.get(), {5}}};
    std::string out;
    append_table(kind, rows, {.revision = {9}},
                 {.now = kRowsAt, .with_columns = false, .groups = &counter}, out);
    EXPECT_NE(out.find(std::string("\"cells\":[\"x\",\"Gang\",\"<none>\",").append(c.want)),
              std::string::npos)
        << out;
  }
}

TEST(Table, FailedPodsAreCompletedToo) {
  const auto table_of = [](std::string_view phase, std::string_view version) {
    const auto pod = Object::make(
        kinds::pod(),
        read_document(fmt::format(
            R"({{"metadata":{{"name":"x","annotations":{{"a":"\"\\}}{{"}}}},"status":{{"phase":"{}"}}}})",
            phase)));
    const TableRow rows[] = {{pod.get(), {7}}, {pod.get(), {8}}};
    std::string out;
    append_table(kinds::pod(), rows, {.revision = {9}},
                 {.now = kRowsAt, .with_columns = false, .meta_version = version}, out);
    return read_document(out);
  };
  const Json failed = table_of("Failed", "v1beta1");
  EXPECT_EQ(find_string(failed, "apiVersion"), "meta.k8s.io/v1beta1");
  const JsonArray& rows = *find_array(failed, "rows");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(
      to_text(*find(rows[0], "conditions")),
      R"([{"type":"Completed","status":"True","reason":"Failed","message":"The pod failed."}])");
  EXPECT_EQ(to_text(*find(rows[1], "object")),
            R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1beta1","metadata":)"
            R"({"resourceVersion":"8","name":"x","annotations":{"a":"\"\\}{"}}})");
  EXPECT_EQ(find(find_array(table_of("Running", "v1"), "rows")->at(0), "conditions"), nullptr);
}

TEST(Table, ColumnsSayWhatTheyAre) {
  std::string out;
  append_table_start(kinds::node(), {.revision = {3}}, {.now = kRowsAt}, out);
  const Json table = read_document(out + std::string(kListEnd));
  EXPECT_EQ(to_text(*find(table, "metadata")), R"({"resourceVersion":"3"})");
  const JsonArray& columns = *find_array(table, "columnDefinitions");
  ASSERT_EQ(columns.size(), 10U);
  EXPECT_EQ(
      to_text(columns[5]),
      R"({"name":"Internal-IP","type":"string","format":"","description":"Address inside the )"
      R"(cluster.","priority":1})");
  std::string bookmark;
  append_partial_metadata(Bookmark{.revision = {4}}, bookmark);
  EXPECT_EQ(bookmark, R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":)"
                      R"({"resourceVersion":"4"}})");
}

}  // namespace
}  // namespace muster::api
