#include "app/credentials.h"

#include <arpa/inet.h>
#include <sys/stat.h>

#include <array>
#include <utility>

namespace muster::app {

Result<server::Credential> authority(const DataDir* data_dir, Time now) {
  if (data_dir == nullptr) return server::make_authority("kubernetes-ca", now);
  const std::string folder = data_dir->path("pki");
  // Only for its owner, whatever the umask is: who may write there could put their own key in.
  if (::mkdir(folder.c_str(), 0700) == 0) ::chmod(folder.c_str(), 0700);
  Result<std::string> certificate = read_file(folder + "/ca.crt");
  Result<std::string> key = read_file(folder + "/ca.key");
  if (certificate && key) return server::Credential{std::move(*certificate), std::move(*key)};
  server::Credential made = TRY(server::make_authority("kubernetes-ca", now));
  TRY(write_private_file(folder + "/ca.key", made.private_key));
  TRY(write_private_file(folder + "/ca.crt", made.certificate));
  return made;
}

Result<server::Credential> serving_certificate(const server::Credential& ca,
                                               const std::string& listen_address,
                                               const std::vector<std::string>& more_names,
                                               Time now) {
  server::ServingNames names;
  names.dns = {"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
               "kubernetes.default.svc.cluster.local"};
  names.addresses = {"127.0.0.1", "::1"};
  if (listen_address != "127.0.0.1" && listen_address != "::1" && listen_address != "0.0.0.0" &&
      listen_address != "::")
    names.addresses.push_back(listen_address);
  for (const std::string& name : more_names)
    (is_address(name) ? names.addresses : names.dns).push_back(name);
  return server::make_serving_certificate(ca, names, now);
}

bool is_address(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

Result<server::TokenKey> token_key(const DataDir* data_dir) {
  if (data_dir == nullptr) return server::TokenKey::read(TRY(server::TokenKey::make_pem()));
  const std::string path = data_dir->path("pki/sa.key");
  if (const Result<std::string> pem = read_file(path)) return server::TokenKey::read(*pem);
  const std::string made = TRY(server::TokenKey::make_pem());
  TRY(write_private_file(path, made));
  return server::TokenKey::read(made);
}

}  // namespace muster::app
