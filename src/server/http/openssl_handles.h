#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>
#include <memory>
#include <string>

#include "base/free_with.h"
#include "base/result.h"

// Owners for OpenSSL's objects, and the few conversions certificates.cc and tls.cc share.
namespace muster::server {

using BioHandle = std::unique_ptr<BIO, FreeWith<BIO_free_all>>;
using KeyHandle = std::unique_ptr<EVP_PKEY, FreeWith<EVP_PKEY_free>>;
using CertificateHandle = std::unique_ptr<X509, FreeWith<X509_free>>;
using SslContextHandle = std::unique_ptr<SSL_CTX, FreeWith<SSL_CTX_free>>;
using SslHandle = std::unique_ptr<SSL, FreeWith<SSL_free>>;

// The newest error of this thread's queue, in OpenSSL's words; empties the queue.
inline std::string take_openssl_error() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  if (code == 0) return "unknown OpenSSL error";
  std::array<char, 256> text{};
  ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

inline std::string bio_text(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

inline Result<CertificateHandle> read_certificate(const std::string& pem) {
  const BioHandle in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  CertificateHandle certificate(PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr));
  if (!certificate)
    return fail(Reason::BadRequest, "not a PEM certificate: {}", take_openssl_error());
  return certificate;
}

inline Result<KeyHandle> read_private_key(const std::string& pem) {
  const BioHandle in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  KeyHandle key(PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, nullptr));
  if (!key) return fail(Reason::BadRequest, "not a PEM private key: {}", take_openssl_error());
  return key;
}

}  // namespace muster::server
