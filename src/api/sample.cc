#include "api/sample.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "api/base64.h"
#include "base/time.h"

namespace muster::api::schema {
namespace {

class Sampler {
 public:
  Sampler(Entropy& entropy, const SampleOptions& options) : entropy_(entropy), options_(options) {}

  JsonObject object(const Message& message, std::size_t depth) {
    JsonObject object;
    for (const Field* field : message.members) {
      const bool is_full = ++nodes_ > options_.nodes_max;
      if (!field->required && (is_full || !chance(options_.presence_percent))) continue;
      if (field->shape == Shape::Message && depth >= options_.depth_max && !field->required)
        continue;
      object[field->name] = member(*field, depth);
    }
    return object;
  }

 private:
  bool chance(std::uint64_t percent) { return entropy_.below(100) < percent; }

  template <typename T, std::size_t N>
  const T& any_of(const std::array<T, N>& values) {
    return values[entropy_.below(N)];
  }

  std::size_t item_count() {
    return nodes_ > options_.nodes_max ? 0 : entropy_.below(options_.items_max + 1);
  }

  Json member(const Field& field, std::size_t depth) {
    if (field.repeat == Repeat::List) return items(field, depth);
    if (field.repeat == Repeat::One) return one(field, depth);
    JsonObject map;
    for (std::size_t i = item_count(); i > 0; --i) map[any_of(kKeys)] = one(field, depth);
    return map;
  }

  Json items(const Field& field, std::size_t depth) {
    JsonArray array;
    for (std::size_t i = item_count(); i > 0; --i) array.push_back(one(field, depth));
    return array;
  }

  Json one(const Field& field, std::size_t depth) {
    ++nodes_;
    switch (field.shape) {
      case Shape::Bool: return chance(50);
      case Shape::Int32: return std::int64_t{static_cast<std::int32_t>(integer())};
      case Shape::Int64: return integer();
      case Shape::Double: return static_cast<double>(integer()) / 8;
      case Shape::Bytes: return Json(boost::json::string(base64_encode(any_of(kTexts))));
      case Shape::Quantity: return Json(boost::json::string(any_of(kQuantities)));
      case Shape::IntOrString:
        if (chance(50)) return std::int64_t{static_cast<std::int32_t>(integer())};
        return Json(boost::json::string(any_of(kTexts)));
      case Shape::Time: return Json(boost::json::string(format_time(time())));
      case Shape::MicroTime: return Json(boost::json::string(format_micro_time(time())));
      case Shape::Duration: return "1.5s";
      case Shape::Any: return any();
      case Shape::Message:
        if (const Field* list = field.message->bare_list()) return items(*list, depth);
        return object(*field.message, depth + 1);
      case Shape::String: break;
    }
    if (!field.allowed.empty())
      return Json(boost::json::string(field.allowed[entropy_.below(field.allowed.size())]));
    return Json(boost::json::string(any_of(kTexts)));
  }

  std::int64_t integer() {
    // Zero matters: it is where presence and absence differ.
    if (chance(25)) return 0;
    return static_cast<std::int64_t>(entropy_.next() >> entropy_.below(64));
  }

  Time time() {
    constexpr std::uint64_t kSpan = 4'000'000'000;  // seconds, into the next century
    return Time(std::chrono::seconds(entropy_.below(kSpan)) +
                std::chrono::microseconds(entropy_.below(1'000'000)));
  }

  Json any() {
    return JsonObject{{"z", integer()}, {"a", JsonArray{1, "x", nullptr, JsonObject()}}};
  }

  static constexpr std::array<std::string_view, 6> kTexts = {"",        "a",    "b-1",
                                                             "é\n\"\\", "日本", "<&>"};
  static constexpr std::array<std::string_view, 5> kKeys = {"a", "b", "example.com/c", "Z", "é"};
  static constexpr std::array<std::string_view, 8> kQuantities = {"0",   "1",      "500m", "1Gi",
                                                                  "1.5", "1024Ki", "1e3",  "-2"};

  Entropy& entropy_;
  const SampleOptions& options_;
  std::size_t nodes_ = 0;
};

}  // namespace

Json sample(const Message& message, Entropy& entropy, const SampleOptions& options) {
  return Sampler(entropy, options).object(message, 0);
}

}  // namespace muster::api::schema
