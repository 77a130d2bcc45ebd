#include "app/read_text_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace muster::app {

Result<std::string> read_text_file(const std::string& path, std::string_view what) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown))
    return fail(Reason::NotFound, "cannot read {} {}: it is a folder", what, path);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return fail(Reason::NotFound, "cannot read {} {}: {}", what, path, std::strerror(errno));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad())
    return fail(Reason::NotFound, "cannot read {} {}: {}", what, path, std::strerror(errno));
  return text;
}

}  // namespace muster::app
