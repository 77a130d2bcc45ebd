#include "server/http/certificates.h"

#include <gtest/gtest.h>
#include <openssl/x509v3.h>

#include "server/http/openssl_handles.h"

namespace muster::server {
namespace {

const Time kNow = std::chrono::sys_days{std::chrono::January / 15 / 2030};

using StoreHandle = std::unique_ptr<X509_STORE, FreeWith<X509_STORE_free>>;
using StoreContextHandle = std::unique_ptr<X509_STORE_CTX, FreeWith<X509_STORE_CTX_free>>;

// X509_V_OK, or why `leaf` is not trusted for `purpose` at `when`.
int verify(const std::string& authority, const std::string& leaf, int purpose, Time when) {
  const CertificateHandle trusted = read_certificate(authority).value();
  const CertificateHandle judged = read_certificate(leaf).value();
  const StoreHandle store(X509_STORE_new());
  X509_STORE_add_cert(store.get(), trusted.get());
  const StoreContextHandle context(X509_STORE_CTX_new());
  X509_STORE_CTX_init(context.get(), store.get(), judged.get(), nullptr);
  X509_STORE_CTX_set_purpose(context.get(), purpose);
  X509_STORE_CTX_set_time(
      context.get(), 0, std::chrono::floor<std::chrono::seconds>(when).time_since_epoch().count());
  X509_verify_cert(context.get());
  return X509_STORE_CTX_get_error(context.get());
}

std::string subject_text(const std::string& pem) {
  const CertificateHandle certificate = read_certificate(pem).value();
  const BioHandle out(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(out.get(), X509_get_subject_name(certificate.get()), 0,
                     XN_FLAG_RFC2253 & ~XN_FLAG_DN_REV);
  return bio_text(out.get());
}

TEST(Certificates, LeavesAreTrustedForTheirOwnUseOnly) {
  const Credential authority = make_authority("kubernetes-ca", kNow).value();
  const Credential serving =
      make_serving_certificate(authority, {.dns = {"localhost"}, .addresses = {"127.0.0.1"}}, kNow)
          .value();
  const Credential client =
      make_client_certificate(authority, {.user = "u", .groups = {}}, kNow).value();
  EXPECT_EQ(verify(authority.certificate, serving.certificate, X509_PURPOSE_SSL_SERVER, kNow),
            X509_V_OK);
  EXPECT_EQ(verify(authority.certificate, client.certificate, X509_PURPOSE_SSL_CLIENT, kNow),
            X509_V_OK);
  EXPECT_EQ(verify(authority.certificate, serving.certificate, X509_PURPOSE_SSL_CLIENT, kNow),
            X509_V_ERR_INVALID_PURPOSE);
  EXPECT_EQ(verify(authority.certificate, client.certificate, X509_PURPOSE_SSL_SERVER, kNow),
            X509_V_ERR_INVALID_PURPOSE);
  const Credential stranger = make_authority("kubernetes-ca", kNow).value();
  EXPECT_NE(verify(stranger.certificate, client.certificate, X509_PURPOSE_SSL_CLIENT, kNow),
            X509_V_OK);
}

TEST(Certificates, AreValidALittleEarlyAndEndInTime) {
  const Credential authority = make_authority("kubernetes-ca", kNow).value();
  const Credential client =
      make_client_certificate(authority, {.user = "u", .groups = {}}, kNow).value();
  const auto at = [&](Time when) {
    return verify(authority.certificate, client.certificate, X509_PURPOSE_SSL_CLIENT, when);
  };
  EXPECT_EQ(at(kNow - std::chrono::minutes(4)), X509_V_OK);
  EXPECT_EQ(at(kNow - std::chrono::hours(1)), X509_V_ERR_CERT_NOT_YET_VALID);
  EXPECT_EQ(at(kNow + std::chrono::days(364)), X509_V_OK);
  EXPECT_EQ(at(kNow + std::chrono::days(366)), X509_V_ERR_CERT_HAS_EXPIRED);
}

TEST(Certificates, ASubjectComesBackAsItWasGiven) {
  const Credential authority = make_authority("kubernetes-ca", kNow).value();
  const Credential client =
      make_client_certificate(authority,
                              {.user = "system:node:n1", .groups = {"system:nodes", "ops"}}, kNow)
          .value();
  EXPECT_EQ(subject_text(client.certificate), "O=system:nodes,O=ops,CN=system:node:n1");
}

TEST(Certificates, AServingCertificateNamesHostsAndAddresses) {
  const Credential authority = make_authority("kubernetes-ca", kNow).value();
  const Credential serving =
      make_serving_certificate(
          authority,
          {.dns = {"localhost", "kubernetes.default.svc"}, .addresses = {"127.0.0.1", "::1"}}, kNow)
          .value();
  const CertificateHandle certificate = read_certificate(serving.certificate).value();
  for (const char* name : {"localhost", "kubernetes.default.svc"})
    EXPECT_EQ(X509_check_host(certificate.get(), name, 0, 0, nullptr), 1) << name;
  for (const char* address : {"127.0.0.1", "::1"})
    EXPECT_EQ(X509_check_ip_asc(certificate.get(), address, 0), 1) << address;
  EXPECT_EQ(X509_check_host(certificate.get(), "example.com", 0, 0, nullptr), 0);
}

TEST(Certificates, SerialsDiffer) {
  const Credential authority = make_authority("ca", kNow).value();
  std::vector<std::string> serials;
  for (int i = 0; i < 3; ++i) {
    const Credential client =
        make_client_certificate(authority, {.user = "u", .groups = {}}, kNow).value();
    const CertificateHandle certificate = read_certificate(client.certificate).value();
    const ASN1_INTEGER* serial = X509_get0_serialNumber(certificate.get());
    serials.emplace_back(reinterpret_cast<const char*>(serial->data),
                         static_cast<std::size_t>(serial->length));
  }
  EXPECT_NE(serials[0], serials[1]);
  EXPECT_NE(serials[1], serials[2]);
}

TEST(Certificates, NamesThatWouldSmuggleExtensionsAreRefused) {
  const Credential authority = make_authority("ca", kNow).value();
  EXPECT_FALSE(
      make_serving_certificate(authority, {.dns = {"a,IP:10.0.0.1"}, .addresses = {}}, kNow));
  EXPECT_FALSE(
      make_serving_certificate(authority, {.dns = {}, .addresses = {"not-an-address"}}, kNow));
  EXPECT_FALSE(make_serving_certificate(authority, {}, kNow));
}

TEST(Certificates, AKubeconfigCarriesEverythingInline) {
  const std::string text =
      make_kubeconfig({.server = "https://127.0.0.1:6443",
                       .ca_certificate = "CA",
                       .client = {.certificate = "CERT", .private_key = "KEY"}});
  EXPECT_EQ(text, R"(apiVersion: v1
kind: Config
clusters:
- name: "muster"
  cluster:
    server: "https://127.0.0.1:6443"
    certificate-authority-data: Q0E=
users:
- name: "kubernetes-admin"
  user:
    client-certificate-data: Q0VSVA==
    client-key-data: S0VZ
contexts:
- name: "muster"
  context:
    cluster: "muster"
    user: "kubernetes-admin"
current-context: "muster"
)");
}

}  // namespace
}  // namespace muster::server
