#include "jose/key.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "base/sha256.h"
#include "jose/base64url.h"

namespace baton::jose {
namespace {

using base::ErrorCode;
using base::fail;

// The order is that of Algorithm.
constexpr std::array<std::string_view, 5> kNames{"RS256", "PS256", "ES256", "ES384", "EdDSA"};
constexpr int kRsaBitsMin = 2'048, kRsaBitsMax = 8'192;
constexpr std::size_t kExponentBytesMax = 8;

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
template <class T, auto Free>
using Owned = std::unique_ptr<T, Freed<Free>>;
using Number = Owned<BIGNUM, BN_free>;
using KeyContext = Owned<EVP_PKEY_CTX, EVP_PKEY_CTX_free>;
using DigestContext = Owned<EVP_MD_CTX, EVP_MD_CTX_free>;
using Builder = Owned<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free>;
using Params = Owned<OSSL_PARAM, OSSL_PARAM_free>;
using EcdsaSignature = Owned<ECDSA_SIG, ECDSA_SIG_free>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

Number number_in(std::string_view bytes) {
  return Number(BN_bin2bn(bytes_of(bytes), static_cast<int>(bytes.size()), nullptr));
}

// OpenSSL looks a digest up anew each time, unless it was fetched.
const EVP_MD* fetched_sha256() {
  static EVP_MD* const digest = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return digest;
}

std::size_t curve_size(Key::Type curve) {
  return curve == Key::Type::p384 ? 48 : 32;
}

// Leaves no entry in the thread's queue of errors: TLS on the same thread would take it for its own.
struct ForgetErrors {
  ~ForgetErrors() { ERR_clear_error(); }
};

std::shared_ptr<EVP_PKEY> shared(EVP_PKEY* key) {
  return {key, [](EVP_PKEY* each) { EVP_PKEY_free(each); }};
}

// Null if the parameters make no key.
std::shared_ptr<EVP_PKEY> key_from(const char* type, OSSL_PARAM_BLD* builder,
                                   int parts = EVP_PKEY_PUBLIC_KEY) {
  const Params params(OSSL_PARAM_BLD_to_param(builder));
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  const bool made = params && context && EVP_PKEY_fromdata_init(context.get()) == 1 &&
                    EVP_PKEY_fromdata(context.get(), &key, parts, params.get()) == 1;
  return made ? shared(key) : nullptr;
}

// The two numbers of a JWS as the structure that OpenSSL verifies; empty if the length is wrong.
std::string to_der(std::string_view signature, std::size_t size) {
  if (signature.size() != 2 * size) return {};
  const EcdsaSignature both(ECDSA_SIG_new());
  Number r = number_in(signature.substr(0, size)), s = number_in(signature.substr(size));
  if (!both || !r || !s || ECDSA_SIG_set0(both.get(), r.get(), s.get()) != 1) return {};
  (void)r.release();
  (void)s.release();
  const int length = i2d_ECDSA_SIG(both.get(), nullptr);
  if (length <= 0) return {};
  std::string der(static_cast<std::size_t>(length), '\0');
  unsigned char* at = bytes_of(der);
  i2d_ECDSA_SIG(both.get(), &at);
  return der;
}

std::string from_der(std::string_view der, std::size_t size) {
  const unsigned char* at = bytes_of(der);
  const EcdsaSignature both(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
  if (!both) return {};
  std::string signature(2 * size, '\0');
  const int width = static_cast<int>(size);
  const bool fits = BN_bn2binpad(ECDSA_SIG_get0_r(both.get()), bytes_of(signature), width) == width &&
                    BN_bn2binpad(ECDSA_SIG_get0_s(both.get()), bytes_of(signature) + size, width) == width;
  return fits ? signature : std::string();
}

bool set_padding(EVP_PKEY_CTX* context, Algorithm algorithm) {
  if (algorithm != Algorithm::ps256) return true;
  return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
         EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1;
}

const EVP_MD* digest_of(Algorithm algorithm) {
  if (algorithm == Algorithm::eddsa) return nullptr;
  return algorithm == Algorithm::es384 ? EVP_sha384() : fetched_sha256();
}

bool is_ecdsa(Algorithm algorithm) {
  return algorithm == Algorithm::es256 || algorithm == Algorithm::es384;
}

// The bytes of a number of the key; empty if it has none of that name. `size` 0: as few as possible.
std::string number_of(const EVP_PKEY* key, const char* name, std::size_t size) {
  BIGNUM* found = nullptr;
  if (EVP_PKEY_get_bn_param(key, name, &found) != 1) return {};
  const Number number(found);
  std::string bytes(size == 0 ? static_cast<std::size_t>(BN_num_bytes(found)) : size, '\0');
  BN_bn2binpad(found, bytes_of(bytes), static_cast<int>(bytes.size()));
  return bytes;
}

std::optional<Key::Type> curve_of(const EVP_PKEY* key) {
  std::array<char, 64> group{};
  if (EVP_PKEY_get_group_name(key, group.data(), group.size(), nullptr) != 1) return std::nullopt;
  const std::string_view name(group.data());
  if (name == "prime256v1" || name == "P-256") return Key::Type::p256;
  if (name == "secp384r1" || name == "P-384") return Key::Type::p384;
  return std::nullopt;
}

bool is_strong_rsa(const EVP_PKEY* key) {
  const int bits = EVP_PKEY_get_bits(key);
  const std::string exponent = number_of(key, OSSL_PKEY_PARAM_RSA_E, 0);
  if (bits < kRsaBitsMin || bits > kRsaBitsMax || exponent.empty() || exponent.size() > kExponentBytesMax)
    return false;
  const bool is_odd = (static_cast<unsigned char>(exponent.back()) & 1) == 1;
  return is_odd && exponent != "\x01";
}

}  // namespace

std::string_view name_of(Algorithm algorithm) {
  return kNames[static_cast<std::size_t>(algorithm)];
}

std::optional<Algorithm> algorithm_named(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Algorithm>(found - kNames.begin());
}

base::Result<Key> Key::checked(Handle handle, bool is_private) {
  const ForgetErrors forget;
  if (!handle) return fail(ErrorCode::invalid_argument, "this is no key");
  if (EVP_PKEY_is_a(handle.get(), "ED25519") == 1) return Key(std::move(handle), Type::ed25519, is_private);
  if (EVP_PKEY_is_a(handle.get(), "EC") == 1) {
    const auto curve = curve_of(handle.get());
    if (curve) return Key(std::move(handle), *curve, is_private);
    return fail(ErrorCode::invalid_argument, "the key's curve is not P-256 or P-384");
  }
  if (EVP_PKEY_is_a(handle.get(), "RSA") != 1)
    return fail(ErrorCode::invalid_argument, "the key is of no type that is used here: RSA, EC or Ed25519");
  if (is_strong_rsa(handle.get())) return Key(std::move(handle), Type::rsa, is_private);
  return fail(ErrorCode::invalid_argument,
              "the RSA key is too weak: it needs 2,048 to 8,192 bits, and an odd exponent from 3");
}

base::Result<Key> Key::rsa(std::string_view modulus, std::string_view exponent) {
  const ForgetErrors forget;
  if (modulus.size() > kRsaBitsMax / 8 || exponent.size() > kExponentBytesMax)
    return fail(ErrorCode::invalid_argument, "the RSA key is too long");
  const Builder builder(OSSL_PARAM_BLD_new());
  const Number n = number_in(modulus), e = number_in(exponent);
  const bool set = builder && n && e &&
                   OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) == 1 &&
                   OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) == 1;
  return checked(set ? key_from("RSA", builder.get()) : nullptr, false);
}

base::Result<Key> Key::ec(Type curve, std::string_view x, std::string_view y) {
  const ForgetErrors forget;
  const std::size_t size = curve_size(curve);
  if (x.size() != size || y.size() != size)
    return fail(ErrorCode::invalid_argument, "the point does not have the size of its curve");
  const std::string point = "\x04" + std::string(x) + std::string(y);
  const Builder builder(OSSL_PARAM_BLD_new());
  const char* const group = curve == Type::p384 ? "secp384r1" : "prime256v1";
  const bool set =
      builder && OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, group, 0) == 1 &&
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()) ==
          1;
  return checked(set ? key_from("EC", builder.get()) : nullptr, false);
}

base::Result<Key> Key::ed25519(std::string_view x) {
  return checked(shared(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(x), x.size())),
                 false);
}

// The private key of the handle, if what it signs is verified `with` the public one.
base::Result<Key> Key::paired(Handle handle, const base::Result<Key>& with, Algorithm algorithm) {
  if (!with) return with;
  auto key = checked(std::move(handle), true);
  if (!key) return key;
  const auto signature = key->sign(algorithm, "a pair");
  if (signature && with->verifies(algorithm, "a pair", *signature)) return key;
  return fail(ErrorCode::invalid_argument, "the key's private and public members are not a pair");
}

base::Result<Key> Key::rsa_private(const RsaMembers& members) {
  const ForgetErrors forget;
  const auto with = rsa(members.n, members.e);
  if (!with) return with;
  const std::array<std::pair<const char*, const std::string*>, 8> all{
      {{OSSL_PKEY_PARAM_RSA_N, &members.n},
       {OSSL_PKEY_PARAM_RSA_E, &members.e},
       {OSSL_PKEY_PARAM_RSA_D, &members.d},
       {OSSL_PKEY_PARAM_RSA_FACTOR1, &members.p},
       {OSSL_PKEY_PARAM_RSA_FACTOR2, &members.q},
       {OSSL_PKEY_PARAM_RSA_EXPONENT1, &members.dp},
       {OSSL_PKEY_PARAM_RSA_EXPONENT2, &members.dq},
       {OSSL_PKEY_PARAM_RSA_COEFFICIENT1, &members.qi}}};
  const Builder builder(OSSL_PARAM_BLD_new());
  std::vector<Number> numbers;  // the builder does not own them
  bool set = builder != nullptr;
  for (const auto& [name, bytes] : all) {
    if (bytes->empty()) continue;
    set = set && bytes->size() <= kRsaBitsMax / 8;
    numbers.push_back(number_in(*bytes));
    set = set && numbers.back() && OSSL_PARAM_BLD_push_BN(builder.get(), name, numbers.back().get()) == 1;
  }
  return paired(set ? key_from("RSA", builder.get(), EVP_PKEY_KEYPAIR) : nullptr, with, Algorithm::rs256);
}

base::Result<Key> Key::ec_private(Type curve, std::string_view x, std::string_view y, std::string_view d) {
  const ForgetErrors forget;
  const auto with = ec(curve, x, y);
  if (!with) return with;
  if (curve != Type::p256 || d.size() != curve_size(curve))
    return fail(ErrorCode::invalid_argument, "signatures are made with P-256 only, whose keys have 32 bytes");
  const std::string point = "\x04" + std::string(x) + std::string(y);
  const Builder builder(OSSL_PARAM_BLD_new());
  const Number number = number_in(d);
  const bool set =
      builder && number &&
      OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) == 1 &&
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()) ==
          1 &&
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, number.get()) == 1;
  return paired(set ? key_from("EC", builder.get(), EVP_PKEY_KEYPAIR) : nullptr, with, Algorithm::es256);
}

base::Result<Key> Key::ed25519_private(std::string_view d) {
  return checked(shared(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes_of(d), d.size())),
                 true);
}

base::Result<Key> Key::from_pem(const std::string& pem) {
  const ForgetErrors forget;
  // No prompt for a password: an encrypted key is no key here.
  const auto no_password = [](char*, int, int, void*) { return 0; };
  const auto read = [&](auto reader) {
    const Owned<BIO, BIO_free> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    return shared(reader(bio.get(), nullptr, +no_password, nullptr));
  };
  if (auto key = read(PEM_read_bio_PrivateKey)) return checked(std::move(key), true);
  return checked(read(PEM_read_bio_PUBKEY), false);
}

base::Result<Key> Key::generate(Type type) {
  const ForgetErrors forget;
  EVP_PKEY* key = nullptr;
  switch (type) {
    case Type::rsa:
      key = EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", static_cast<std::size_t>(kRsaBitsMin));
      break;
    case Type::p256:
      key = EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256");
      break;
    case Type::p384:
      key = EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-384");
      break;
    case Type::ed25519:
      key = EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
      break;
  }
  return checked(shared(key), true);
}

Algorithm Key::algorithm() const {
  switch (type_) {
    case Type::rsa:
      return Algorithm::rs256;
    case Type::p256:
      return Algorithm::es256;
    case Type::p384:
      return Algorithm::es384;
    case Type::ed25519:
      break;
  }
  return Algorithm::eddsa;
}

bool Key::fits(Algorithm algorithm) const {
  switch (algorithm) {
    case Algorithm::rs256:
    case Algorithm::ps256:
      return type_ == Type::rsa;
    case Algorithm::es256:
      return type_ == Type::p256;
    case Algorithm::es384:
      return type_ == Type::p384;
    case Algorithm::eddsa:
      return type_ == Type::ed25519;
  }
  return false;
}

bool Key::verifies(Algorithm algorithm, std::string_view text, std::string_view signature) const {
  if (!fits(algorithm)) return false;
  const ForgetErrors forget;
  std::string der;
  if (is_ecdsa(algorithm)) {
    der = to_der(signature, curve_size(type_));
    if (der.empty()) return false;
    signature = der;
  }
  const DigestContext context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* of_key = nullptr;
  return context &&
         EVP_DigestVerifyInit(context.get(), &of_key, digest_of(algorithm), nullptr, handle_.get()) == 1 &&
         set_padding(of_key, algorithm) &&
         EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(text),
                          text.size()) == 1;
}

base::Result<std::string> Key::sign(Algorithm algorithm, std::string_view text) const {
  if (!is_private_ || !fits(algorithm) || algorithm == Algorithm::es384)
    return fail(ErrorCode::invalid_argument, "this key makes no such signatures");
  const ForgetErrors forget;
  const DigestContext context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* of_key = nullptr;
  std::string signature(static_cast<std::size_t>(EVP_PKEY_get_size(handle_.get())), '\0');
  std::size_t size = signature.size();
  const bool made =
      context &&
      EVP_DigestSignInit(context.get(), &of_key, digest_of(algorithm), nullptr, handle_.get()) == 1 &&
      set_padding(of_key, algorithm) &&
      EVP_DigestSign(context.get(), bytes_of(signature), &size, bytes_of(text), text.size()) == 1;
  if (!made) return fail(ErrorCode::internal, "the signature could not be made");
  signature.resize(size);
  return is_ecdsa(algorithm) ? from_der(signature, curve_size(type_)) : signature;
}

std::string Key::public_members() const {
  const auto number = [&](const char* name, std::size_t size) {
    return encode_base64url(number_of(handle_.get(), name, size));
  };
  if (type_ == Type::rsa) {
    return R"({"e":")" + number(OSSL_PKEY_PARAM_RSA_E, 0) + R"(","kty":"RSA","n":")" +
           number(OSSL_PKEY_PARAM_RSA_N, 0) + R"("})";
  }
  if (type_ == Type::ed25519)
    return R"({"crv":"Ed25519","kty":"OKP","x":")" + encode_base64url(ed25519_public()) + R"("})";
  const std::size_t size = curve_size(type_);
  return std::string(R"({"crv":")") + (type_ == Type::p384 ? "P-384" : "P-256") + R"(","kty":"EC","x":")" +
         number(OSSL_PKEY_PARAM_EC_PUB_X, size) + R"(","y":")" + number(OSSL_PKEY_PARAM_EC_PUB_Y, size) +
         R"("})";
}

std::string Key::ed25519_public() const {
  if (type_ != Type::ed25519) return {};
  std::string x(32, '\0');
  std::size_t size = x.size();
  EVP_PKEY_get_raw_public_key(handle_.get(), bytes_of(x), &size);
  return x;
}

std::string Key::thumbprint() const {
  return encode_base64url(base::sha256_bytes(public_members()));
}

}  // namespace baton::jose
