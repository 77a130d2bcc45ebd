#include "app/store_verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "app/backup_socket.h"
#include "app/data_dir.h"
#include "app/durable_copy.h"
#include "app/key_check.h"
#include "base/count_of.h"
#include "store/engines/rocksdb.h"

namespace muster::app {
namespace {

namespace fs = std::filesystem;

// `muster up` makes these before it serves; without them its clients and tokens are worth nothing.
Result<void> check_certificates(const std::string& data_dir) {
  const std::string fault = fault_of_keys(data_dir);
  if (fault.empty()) return {};
  return fail(Reason::InternalError,
              "the data directory {} is not whole: {}; restore it from a backup", data_dir, fault);
}

// A copy of a directory inside itself would have no end.
Result<void> check_apart(const std::string& copy, const std::string& data_dir) {
  const auto resolved = [](const fs::path& path) {
    std::error_code error;
    fs::path whole = fs::weakly_canonical(path, error);
    return error ? fs::absolute(path).lexically_normal() : whole;
  };
  const fs::path inner = resolved(copy);
  const fs::path outer = resolved(data_dir);
  const auto [at, end] = std::ranges::mismatch(outer, inner);
  if (at != outer.end()) return {};
  return fail(Reason::Invalid, "{} is inside {}: name a folder outside of it", copy, data_dir);
}

std::string summary(const store::Inspection& inspection) {
  const store::Contents& contents = inspection.contents;
  std::map<std::string, std::size_t> counts;
  for (const auto& [key, object] : contents.objects) ++counts[object->kind().qualified_plural()];
  std::string out = fmt::format(
      "revision {}, {}; read {} and {} index {}{}\n", contents.revision.value,
      count_of(std::ssize(contents.objects), "object"),
      count_of(static_cast<std::int64_t>(inspection.records), "revision"), inspection.index_entries,
      inspection.index_entries == 1 ? "entry" : "entries",
      inspection.has_mark ? "" : " of an older format, which does not say where it ended");
  for (const auto& [kind, count] : counts)
    fmt::format_to(std::back_inserter(out), "  {:>8}  {}\n", count, kind);
  return out;
}

// Copies the directory without its store, and the store from where it is whole, and reads it all
// once more from there.
Result<store::Inspection> copy_data_dir(const std::string& from, const std::string& store,
                                        const StagedDirectory& to) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(from, error)) {
    const std::string name = entry.path().filename();
    const bool plain = !entry.is_symlink() && (entry.is_directory() || entry.is_regular_file());
    // The mark comes last, so that half a copy is none.
    if (plain && name != "store" && name != kBackupCopy && !name.starts_with("MUSTER"))
      TRY(copy_tree(entry.path(), to.path(name)));
  }
  if (error) return fail(Reason::InternalError, "cannot read {}: {}", from, error.message());
  TRY(copy_tree(store, to.path("store")));
  return store::inspect_rocksdb_store(to.path("store"));
}

Result<void> finish(StagedDirectory& staged) {
  TRY(mark_data_dir(staged.path("")));
  return staged.finish();
}

}  // namespace

Result<std::string> check_store(const std::string& data_dir) {
  const std::unique_ptr<DataDir> opened = TRY(DataDir::open_for_reading(data_dir));
  TRY(check_certificates(data_dir));
  const store::Inspection inspection = TRY(store::inspect_rocksdb_store(opened->path("store")));
  return fmt::format("{} is whole: {}", data_dir, summary(inspection));
}

Result<std::string> backup_store(const std::string& data_dir, const std::string& to) {
  TRY(check_apart(to, data_dir));
  StagedDirectory staged = TRY(StagedDirectory::begin(to));
  std::optional<CopyOfRunningStore> copy;
  Result<std::unique_ptr<DataDir>> opened = DataDir::open_for_reading(data_dir);
  if (!opened && opened.error().reason == Reason::Conflict)
    copy.emplace(TRY(CopyOfRunningStore::request(data_dir)));
  else if (!opened)
    return fail(std::move(opened).error());
  TRY(check_certificates(data_dir));
  const std::string store = copy ? copy->folder() : data_dir + "/store";
  TRY(store::inspect_rocksdb_store(store));
  const store::Inspection inspection = TRY(copy_data_dir(data_dir, store, staged));
  TRY(finish(staged));
  return fmt::format("{} is a backup of {}{}: {}", to, data_dir, copy ? ", which is running" : "",
                     summary(inspection));
}

Result<std::string> restore_store(const std::string& from, const std::string& data_dir,
                                  std::int64_t skip) {
  TRY(check_apart(data_dir, from));
  StagedDirectory staged = TRY(StagedDirectory::begin(data_dir));
  {
    const std::unique_ptr<DataDir> backup = TRY(DataDir::open_for_reading(from));
    TRY(check_certificates(from));
    TRY(store::inspect_rocksdb_store(backup->path("store")));
    TRY(copy_data_dir(from, backup->path("store"), staged));
  }
  TRY(store::skip_revisions(staged.path("store"), skip));
  const store::Inspection inspection = TRY(store::inspect_rocksdb_store(staged.path("store")));
  TRY(finish(staged));
  return fmt::format("{} is restored from {}: {}", data_dir, from, summary(inspection));
}

}  // namespace muster::app
