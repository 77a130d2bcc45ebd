#include "app/store_verbs.h"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <system_error>

#include "app/data_dir.h"
#include "store/engines/rocksdb.h"

namespace muster::app {
namespace {

namespace fs = std::filesystem;

// Opens, and so locks, a data directory that must be there already.
Result<std::unique_ptr<DataDir>> open_existing(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error))
    return fail(Reason::NotFound, "there is no data directory {}; name one with --data-dir", path);
  return DataDir::open(path);
}

Result<void> must_be_free(const std::string& path) {
  std::error_code error;
  if (fs::exists(path, error))
    return fail(Reason::AlreadyExists, "{} exists already; name a folder that does not", path);
  return {};
}

Result<store::Contents> read_all(const DataDir& data_dir) {
  return TRY(store::open_rocksdb_engine(data_dir.path("store")))->load();
}

std::string summary(const store::Contents& contents) {
  std::map<std::string, std::size_t> counts;
  for (const auto& [key, object] : contents.objects) ++counts[object->kind().qualified_plural()];
  std::string out =
      fmt::format("revision {}, {} object(s)\n", contents.revision.value, contents.objects.size());
  for (const auto& [kind, count] : counts)
    fmt::format_to(std::back_inserter(out), "  {:>8}  {}\n", count, kind);
  return out;
}

// Copies a tree; what was copied is taken away again if something goes wrong half way.
Result<void> copy_tree(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::create_directories(to, error);
  if (!error) fs::permissions(to, fs::perms::owner_all, error);
  if (!error) fs::copy(from, to, fs::copy_options::recursive, error);
  if (!error) return {};
  std::error_code ignored;
  fs::remove_all(to, ignored);
  return fail(Reason::InternalError, "cannot copy {} to {}: {}", from, to, error.message());
}

}  // namespace

Result<std::string> check_store(const std::string& data_dir) {
  const std::unique_ptr<DataDir> opened = TRY(open_existing(data_dir));
  return fmt::format("{} is whole: {}", data_dir, summary(TRY(read_all(*opened))));
}

Result<std::string> backup_store(const std::string& data_dir, const std::string& to) {
  TRY(must_be_free(to));
  const std::unique_ptr<DataDir> opened = TRY(open_existing(data_dir));
  const store::Contents contents = TRY(read_all(*opened));
  TRY(copy_tree(data_dir, to));
  return fmt::format("{} is a backup of {}: {}", to, data_dir, summary(contents));
}

Result<std::string> restore_store(const std::string& from, const std::string& data_dir,
                                  std::int64_t skip) {
  TRY(must_be_free(data_dir));
  {
    const std::unique_ptr<DataDir> backup = TRY(open_existing(from));
    TRY(read_all(*backup));
    TRY(copy_tree(from, data_dir));
  }
  const std::unique_ptr<DataDir> opened = TRY(DataDir::open(data_dir));
  TRY(store::skip_revisions(opened->path("store"), skip));
  return fmt::format("{} is restored from {}: {}", data_dir, from, summary(TRY(read_all(*opened))));
}

}  // namespace muster::app
