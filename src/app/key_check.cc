#include "app/key_check.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "base/log.h"
#include "server/access/token.h"
#include "server/http/certificates.h"

namespace muster::app {
namespace {

constexpr std::array<std::string_view, 3> kKeys = {"pki/ca.crt", "pki/ca.key", "pki/sa.key"};

bool exists(const std::string& data_dir, std::string_view key) {
  std::error_code error;
  return std::filesystem::is_regular_file(fmt::format("{}/{}", data_dir, key), error);
}

}  // namespace

std::string fault_of_keys(const std::string& data_dir) {
  std::array<std::string, kKeys.size()> texts;
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    if (!exists(data_dir, kKeys[i])) return fmt::format("{} is missing", kKeys[i]);
    Result<std::string> text = read_file(fmt::format("{}/{}", data_dir, kKeys[i]));
    if (!text) return text.error().message;
    texts[i] = *std::move(text);
  }
  if (!server::is_pair({.certificate = texts[0], .private_key = texts[1]}))
    return "pki/ca.crt or pki/ca.key is damaged: they do not belong together";
  if (!server::TokenKey::read(texts[2])) return "pki/sa.key is damaged";
  return "";
}

Result<void> check_keys(const DataDir& data_dir) {
  const std::string pki = data_dir.path("pki");
  const std::string root = std::filesystem::path(pki).parent_path();
  const std::string fault = fault_of_keys(root);
  if (fault.empty()) return {};
  if (std::ranges::none_of(kKeys, [&](std::string_view key) { return exists(root, key); })) {
    // How somebody asks for new keys.
    log(LogLevel::Warning,
        "{} is empty: new keys are made, and certificates, kubeconfigs and tokens made with the "
        "old ones end",
        pki);
    return {};
  }
  return fail(Reason::InternalError,
              "the keys in {} cannot be used ({}): put them back from a backup, or delete the "
              "folder {} to get new keys (certificates, kubeconfigs and tokens made with the old "
              "ones end)",
              pki, fault, pki);
}

}  // namespace muster::app
