#include "server/http/certificates.h"

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <chrono>
#include <ctime>
#include <memory>
#include <string_view>

#include "server/http/openssl_handles.h"

namespace muster::server {
namespace {

constexpr std::chrono::hours kAuthorityLife{24 * 365 * 10};
constexpr std::chrono::hours kLeafLife{24 * 365};
// Clocks of clients may be a little behind ours.
constexpr std::chrono::minutes kBackdate{5};

tl::unexpected<Error> openssl_failed(std::string_view what) {
  return fail(Reason::InternalError, "{}: {}", what, take_openssl_error());
}

Result<KeyHandle> make_key() {
  KeyHandle key(EVP_EC_gen("P-256"));
  if (!key) return openssl_failed("cannot make a P-256 key");
  return key;
}

// A positive serial number of 127 random bits.
bool set_random_serial(X509* certificate) {
  const std::unique_ptr<BIGNUM, decltype(&BN_free)> number(BN_new(), &BN_free);
  return number && BN_rand(number.get(), 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool set_life(X509* certificate, Time now, std::chrono::hours life) {
  const auto seconds = [](Time time) {
    return static_cast<std::time_t>(
        std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count());
  };
  return ASN1_TIME_set(X509_getm_notBefore(certificate), seconds(now - kBackdate)) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), seconds(now + life)) != nullptr;
}

bool add_name(X509_NAME* name, const char* field, std::string_view value) {
  return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(value.data()),
                                    static_cast<int>(value.size()), -1, 0) == 1;
}

bool add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  if (extension == nullptr) return false;
  const bool added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

Result<std::string> to_pem(const X509* certificate) {
  const BioHandle out(BIO_new(BIO_s_mem()));
  if (!out || PEM_write_bio_X509(out.get(), certificate) != 1)
    return openssl_failed("cannot write a certificate");
  return bio_text(out.get());
}

Result<std::string> to_pem(const EVP_PKEY* key) {
  const BioHandle out(BIO_new(BIO_s_mem()));
  if (!out ||
      PEM_write_bio_PKCS8PrivateKey(out.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return openssl_failed("cannot write a private key");
  return bio_text(out.get());
}

struct Extension {
  int nid;
  std::string value;
};

// The parts of a certificate that differ from one use to the next.
struct Draft {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<Extension> extensions;
  std::chrono::hours life;
};

// Signs with `authority`, or with the new key itself if there is none.
Result<Credential> make_certificate(const Draft& draft, const Credential* authority, Time now) {
  KeyHandle key = TRY(make_key());
  const CertificateHandle certificate(X509_new());
  CertificateHandle issuer;
  KeyHandle issuer_key;
  if (authority != nullptr) {
    issuer = TRY(read_certificate(authority->certificate));
    issuer_key = TRY(read_private_key(authority->private_key));
  }
  X509* const signer = issuer ? issuer.get() : certificate.get();

  bool good = certificate && X509_set_version(certificate.get(), X509_VERSION_3) == 1 &&
              set_random_serial(certificate.get()) &&
              set_life(certificate.get(), now, draft.life) &&
              X509_set_pubkey(certificate.get(), key.get()) == 1;
  X509_NAME* const name = X509_get_subject_name(certificate.get());
  for (const std::string& organization : draft.organizations)
    good = good && add_name(name, "O", organization);
  good = good && add_name(name, "CN", draft.common_name) &&
         X509_set_issuer_name(certificate.get(), X509_get_subject_name(signer)) == 1;
  for (const auto& [nid, value] : draft.extensions)
    good = good && add_extension(certificate.get(), signer, nid, value);
  good = good &&
         X509_sign(certificate.get(), issuer_key ? issuer_key.get() : key.get(), EVP_sha256()) > 0;
  if (!good) return openssl_failed("cannot make a certificate for " + draft.common_name);

  Credential credential;
  credential.certificate = TRY(to_pem(certificate.get()));
  credential.private_key = TRY(to_pem(key.get()));
  return credential;
}

std::string base64(std::string_view text) {
  std::string out(4 * ((text.size() + 2) / 3), '\0');
  // EVP_EncodeBlock also writes a terminating zero, where std::string keeps its own.
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                  reinterpret_cast<const unsigned char*>(text.data()),
                  static_cast<int>(text.size()));
  return out;
}

}  // namespace

bool is_pair(const Credential& credential) {
  const auto certificate = read_certificate(credential.certificate);
  const auto key = read_private_key(credential.private_key);
  const bool pair =
      certificate && key && X509_check_private_key(certificate->get(), key->get()) == 1;
  ERR_clear_error();
  return pair;
}

Result<Credential> make_authority(const std::string& name, Time now) {
  return make_certificate(
      {.common_name = name,
       .organizations = {},
       .extensions = {{NID_basic_constraints, "critical,CA:TRUE"},
                      {NID_key_usage, "critical,digitalSignature,keyCertSign,cRLSign"},
                      {NID_subject_key_identifier, "hash"}},
       .life = kAuthorityLife},
      nullptr, now);
}

Result<Credential> make_serving_certificate(const Credential& authority, const ServingNames& names,
                                            Time now) {
  std::string alternatives;
  const auto add = [&alternatives](std::string_view type, const std::string& name) {
    fmt::format_to(std::back_inserter(alternatives), "{}{}:{}", alternatives.empty() ? "" : ",",
                   type, name);
  };
  // A comma would smuggle further extension values in: the names come from flags.
  for (const std::vector<std::string>* list : {&names.dns, &names.addresses})
    for (const std::string& name : *list)
      if (name.empty() || name.find_first_of(",\n\\") != std::string::npos)
        return fail(Reason::BadRequest, "{:?} cannot be a name in a serving certificate", name);
  for (const std::string& name : names.dns) add("DNS", name);
  for (const std::string& address : names.addresses) add("IP", address);
  if (alternatives.empty())
    return fail(Reason::BadRequest, "a serving certificate needs at least one name or address");

  return make_certificate({.common_name = "kube-apiserver",
                           .organizations = {},
                           .extensions = {{NID_basic_constraints, "critical,CA:FALSE"},
                                          {NID_key_usage, "critical,digitalSignature"},
                                          {NID_ext_key_usage, "serverAuth"},
                                          {NID_authority_key_identifier, "keyid"},
                                          {NID_subject_alt_name, alternatives}},
                           .life = kLeafLife},
                          &authority, now);
}

Result<Credential> make_client_certificate(const Credential& authority,
                                           const ClientIdentity& subject, Time now) {
  return make_certificate({.common_name = subject.user,
                           .organizations = subject.groups,
                           .extensions = {{NID_basic_constraints, "critical,CA:FALSE"},
                                          {NID_key_usage, "critical,digitalSignature"},
                                          {NID_ext_key_usage, "clientAuth"},
                                          {NID_authority_key_identifier, "keyid"}},
                           .life = kLeafLife},
                          &authority, now);
}

std::string make_kubeconfig(const KubeconfigOptions& options) {
  return fmt::format(R"(apiVersion: v1
kind: Config
clusters:
- name: "{cluster}"
  cluster:
    server: "{server}"
    certificate-authority-data: {ca}
users:
- name: "{user}"
  user:
    client-certificate-data: {certificate}
    client-key-data: {key}
contexts:
- name: "{cluster}"
  context:
    cluster: "{cluster}"
    user: "{user}"
current-context: "{cluster}"
)",
                     fmt::arg("cluster", options.cluster_name), fmt::arg("server", options.server),
                     fmt::arg("user", options.user_name),
                     fmt::arg("ca", base64(options.ca_certificate)),
                     fmt::arg("certificate", base64(options.client.certificate)),
                     fmt::arg("key", base64(options.client.private_key)));
}

}  // namespace muster::server
