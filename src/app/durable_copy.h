#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

// Copies that are on disk as soon as they exist: every file and folder is synced, and the whole
// appears under its name in one step.
namespace muster::app {

// A folder that does not exist yet, made under another name beside it: `<path>.incomplete`. A
// process that is killed leaves that, and nothing under `path`; the next try removes it.
class StagedDirectory {
 public:
  // Refuses if `path` exists, or if somebody else is making it right now.
  static Result<StagedDirectory> begin(const std::string& path);
  // Removes what was not finished.
  ~StagedDirectory();
  StagedDirectory(StagedDirectory&& other) noexcept;
  StagedDirectory& operator=(StagedDirectory&&) = delete;

  // Where to write, for now.
  std::string path(std::string_view name) const;
  // Syncs everything in it, and gives it its name.
  Result<void> finish();

 private:
  StagedDirectory(std::string path, std::string draft, int lock)
      : path_(std::move(path)), draft_(std::move(draft)), lock_(lock) {}

  std::string path_;
  std::string draft_;
  int lock_ = -1;  // -1: finished, or moved from
};

// Copies a file, or a folder with all below it, to a path that does not exist yet; only the owner
// may read the copies. Anything else is left out.
Result<void> copy_tree(const std::string& from, const std::string& to);

}  // namespace muster::app
