#include "target.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cstdlib>
#include <string_view>
#include <utility>

#include "client/kubeconfig.h"

namespace muster::loader {
namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
Bio bio_of(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free};
}

bool trust(SSL_CTX* tls, const std::string& authority) {
  const Bio bio = bio_of(authority);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), &X509_free);
  return certificate != nullptr &&
         X509_STORE_add_cert(SSL_CTX_get_cert_store(tls), certificate.get()) == 1;
}

bool use_client_certificate(SSL_CTX* tls, const client::Kubeconfig& from) {
  const Bio certificate_bio = bio_of(from.client_certificate);
  const Bio key_bio = bio_of(from.client_key);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      PEM_read_bio_X509(certificate_bio.get(), nullptr, nullptr, nullptr), &X509_free);
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      PEM_read_bio_PrivateKey(key_bio.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free);
  return certificate != nullptr && key != nullptr &&
         SSL_CTX_use_certificate(tls, certificate.get()) == 1 &&
         SSL_CTX_use_PrivateKey(tls, key.get()) == 1;
}

Result<std::shared_ptr<SSL_CTX>> make_tls(const client::Kubeconfig& from) {
  std::shared_ptr<SSL_CTX> tls(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
  SSL_CTX_set_mode(tls.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_verify(tls.get(), from.insecure_skip_tls_verify ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
                     nullptr);
  if (from.certificate_authority.empty())
    SSL_CTX_set_default_verify_paths(tls.get());
  else if (!trust(tls.get(), from.certificate_authority))
    return fail(Reason::Invalid, "kubeconfig: the certificate authority cannot be read");
  if (!from.client_certificate.empty() && !use_client_certificate(tls.get(), from))
    return fail(Reason::Invalid, "kubeconfig: the client certificate or its key cannot be read");
  return tls;
}

}  // namespace

Result<Target> read_target(const std::string& kubeconfig_path) {
  const char* const listed = std::getenv("KUBECONFIG");
  const char* const home = std::getenv("HOME");
  const client::Kubeconfig config = TRY(client::load_kubeconfig(
      client::kubeconfig_sources(kubeconfig_path, listed == nullptr ? "" : listed,
                                 home == nullptr ? "" : home),
      ""));
  constexpr std::string_view kScheme = "https://";
  if (!config.server.starts_with(kScheme))
    return fail(Reason::Invalid, "kubeconfig: {} is no https address", config.server);
  std::string host = config.server.substr(kScheme.size());
  host = host.substr(0, host.find('/'));
  Target target;
  target.port = "443";
  if (const auto colon = host.rfind(':'); colon != std::string::npos && host.back() != ']') {
    target.port = host.substr(colon + 1);
    host.resize(colon);
  }
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  target.server_name = config.tls_server_name.empty() ? host : config.tls_server_name;
  target.host = std::move(host);
  target.verify = !config.insecure_skip_tls_verify;
  if (!config.token.empty()) target.authorization = "Bearer " + config.token;
  target.tls = TRY(make_tls(config));
  return target;
}

}  // namespace muster::loader
