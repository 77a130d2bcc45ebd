#include "app/key_check.h"

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/log.h"

namespace muster::app {

Result<void> check_keys(const DataDir& data_dir) {
  constexpr std::array<std::string_view, 3> kKeys = {"pki/ca.crt", "pki/ca.key", "pki/sa.key"};
  std::string missing;
  std::size_t found = 0;
  for (const std::string_view key : kKeys) {
    std::error_code error;
    if (std::filesystem::exists(data_dir.path(std::string(key)), error))
      ++found;
    else
      missing = data_dir.path(std::string(key));
  }
  if (found == kKeys.size()) return {};
  if (found == 0) {
    // How somebody asks for new keys.
    log(LogLevel::Warning,
        "{} is empty: new keys are made, and certificates, kubeconfigs and tokens made with the "
        "old "
        "ones end",
        data_dir.path("pki"));
    return {};
  }
  return fail(
      Reason::NotFound,
      "{} is missing beside the other keys: put it back from a backup, or delete the folder "
      "{} to get new keys (certificates, kubeconfigs and tokens made with the old ones end)",
      missing, data_dir.path("pki"));
}

}  // namespace muster::app
