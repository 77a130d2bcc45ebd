#include "scheduler/config/config_errors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/yaml_lines.h"

namespace muster::scheduler {
namespace {

constexpr std::size_t kNamedMax = 20;

}  // namespace

void ConfigErrors::add(const std::string& path, std::string sentence) {
  if (found_.size() < kNamedMax)
    found_.push_back({path, std::move(sentence)});
  else
    ++left_out_;
}

tl::unexpected<Error> ConfigErrors::fail() const {
  std::vector<std::string> paths;
  std::vector<std::string> sentences;
  const auto name = [&](const std::string& path, std::string sentence) {
    paths.push_back(path);
    sentences.push_back(std::move(sentence));
  };
  for (const Found& one : found_) name(one.path, one.sentence);
  for (const Cause& cause : fields_.causes())
    if (paths.size() < kNamedMax)
      name(cause.field,
           cause.field.empty() ? cause.message : fmt::format("{}: {}", cause.field, cause.message));
  const auto lines = api::yaml_lines_of(text_, paths);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i]) sentences[i] = fmt::format("line {}: {}", *lines[i], sentences[i]);
  const std::size_t all = found_.size() + left_out_ + fields_.size();
  if (all > paths.size()) sentences.push_back(fmt::format("and {} more", all - paths.size()));
  return muster::fail(Reason::Invalid, "{}", fmt::join(sentences, "; "));
}

}  // namespace muster::scheduler
