#include "server/http/audit.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace muster::server {
namespace {

AuditRecord record() {
  return {.id = "id-1",
          .target = "/apis/scheduling.muster.dev/v1alpha1/namespaces/ns/groupbindings",
          .user_agent = "muster",
          .user = {.name = "system:kube-scheduler", .groups = {"system:authenticated"}},
          .asked = {.is_resource = true,
                    .verb = "create",
                    .group = "scheduling.muster.dev",
                    .version = "v1alpha1",
                    .resource = "groupbindings",
                    .name_space = "ns"},
          .code = 201,
          .received = parse_time("2026-01-01T00:00:00Z").value(),
          .finished = parse_time("2026-01-01T00:00:00.5Z").value(),
          .pods = {"a", "b"}};
}

TEST(AuditTest, SaysWhoDidWhatToWhichPods) {
  EXPECT_EQ(audit_line(record()),
            R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"id-1",)"
            R"("stage":"ResponseComplete","requestURI":)"
            R"("/apis/scheduling.muster.dev/v1alpha1/namespaces/ns/groupbindings","verb":"create",)"
            R"("user":{"username":"system:kube-scheduler","groups":["system:authenticated"]},)"
            R"("userAgent":"muster","objectRef":{"resource":"groupbindings","namespace":"ns",)"
            R"("apiGroup":"scheduling.muster.dev","apiVersion":"v1alpha1"},)"
            R"("responseStatus":{"metadata":{},"code":201},)"
            R"("requestReceivedTimestamp":"2026-01-01T00:00:00.000000Z",)"
            R"("stageTimestamp":"2026-01-01T00:00:00.500000Z",)"
            R"("annotations":{"scheduling.muster.dev/pods":"a,b"}})"
            "\n");
}

TEST(AuditTest, SaysWhoActedAsWhom) {
  AuditRecord acted = record();
  acted.impersonated = {.name = "jane", .groups = {"dev"}};
  EXPECT_NE(audit_line(acted).find(
                R"("user":{"username":"system:kube-scheduler","groups":["system:authenticated"]},)"
                R"("userAgent":"muster","impersonatedUser":{"username":"jane","groups":["dev"]},)"),
            std::string::npos)
      << audit_line(acted);
}

TEST(AuditTest, AppendsToAFileOnlyItsOwnerReads) {
  std::string pattern = (std::filesystem::temp_directory_path() / "muster-audit-XXXXXX").string();
  const std::string folder = ::mkdtemp(pattern.data());
  const std::string path = folder + "/audit.log";
  for (int i = 0; i < 2; ++i) AuditLog::open(path, {}).value()->write(record());
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), audit_line(record()) + audit_line(record()));
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_FALSE(AuditLog::open(folder + "/no/such/folder", {}).has_value());
  std::filesystem::remove_all(folder);
}

TEST(AuditTest, AFullFileIsRenamedAndOldOnesGo) {
  std::string pattern = (std::filesystem::temp_directory_path() / "muster-audit-XXXXXX").string();
  const std::string folder = ::mkdtemp(pattern.data());
  const std::size_t line = audit_line(record()).size();
  const auto files = [&] {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      names.insert(entry.path().filename().string());
    return names;
  };
  const auto log =
      AuditLog::open(folder + "/audit.log",
                     {.bytes_max = 2 * line, .backups_max = 2, .age_max = std::chrono::days(30)})
          .value();
  AuditRecord each = record();
  for (int i = 0; i < 3; ++i) log->write(each);
  EXPECT_EQ(files(), (std::set<std::string>{"audit.log", "audit-2026-01-01T00-00-00.500.log"}));
  // Two more renamed files: the first of three goes.
  for (int i = 0; i < 4; ++i) {
    each.finished += std::chrono::seconds(1);
    log->write(each);
  }
  EXPECT_EQ(files(), (std::set<std::string>{"audit.log", "audit-2026-01-01T00-00-02.500.log",
                                            "audit-2026-01-01T00-00-04.500.log"}));
  // Both are too old by then.
  each.finished += std::chrono::days(40);
  for (int i = 0; i < 2; ++i) log->write(each);
  EXPECT_EQ(files(), (std::set<std::string>{"audit.log", "audit-2026-02-10T00-00-04.500.log"}));
  for (const std::string& name : files())
    EXPECT_LE(std::filesystem::file_size(std::filesystem::path(folder) / name), 2 * line) << name;
  std::filesystem::remove_all(folder);
}

TEST(AuditTest, IsNeverWrittenThroughALink) {
  std::string pattern = (std::filesystem::temp_directory_path() / "muster-audit-XXXXXX").string();
  const std::string folder = ::mkdtemp(pattern.data());
  std::filesystem::create_symlink("elsewhere", folder + "/audit.log");
  EXPECT_FALSE(AuditLog::open(folder + "/audit.log", {}).has_value());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace muster::server
