#include "server/http/audit.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
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

TEST(AuditTest, TellsWhoDidWhatToWhichPods) {
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

TEST(AuditTest, TellsWhoActedAsWhom) {
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
  for (int i = 0; i < 2; ++i) AuditLog::open(path).value()->write(record());
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), audit_line(record()) + audit_line(record()));
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_FALSE(AuditLog::open(folder + "/no/such/folder").has_value());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace muster::server
