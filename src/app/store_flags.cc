#include "app/store_flags.h"

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>

#include "app/data_dir.h"
#include "app/store_verbs.h"

namespace muster::app {
namespace {

struct StoreFlags {
  std::string data_dir = default_data_dir();
  std::string to;
  std::string from;
  // More than anyone writes between two backups, and nothing against 2^63.
  std::int64_t skip = 1'000'000;
};

void add_store_flags(CLI::App& store, StoreFlags& flags) {
  store.require_subcommand(1);
  CLI::App* check = store.add_subcommand("check", "Read everything and say what is there");
  CLI::App* backup =
      store.add_subcommand("backup", "Copy the data directory, also while Muster runs on it");
  CLI::App* restore = store.add_subcommand("restore", "Make a data directory from a backup");
  for (CLI::App* verb : {check, backup, restore})
    verb->add_option("--data-dir", flags.data_dir, "The data directory")->capture_default_str();
  backup->add_option("--to", flags.to, "A folder that does not exist yet")->required();
  restore->add_option("--from", flags.from, "A backup")->required();
  restore
      ->add_option("--skip-revisions", flags.skip,
                   "Revisions to leave out, so that none is used twice")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40))
      ->capture_default_str();
}

int store(const CLI::App& verb, const StoreFlags& flags) {
  const Result<std::string> text = verb.got_subcommand("check") ? check_store(flags.data_dir)
                                   : verb.got_subcommand("backup")
                                       ? backup_store(flags.data_dir, flags.to)
                                       : restore_store(flags.from, flags.data_dir, flags.skip);
  if (!text) return refuse(text.error().message);
  fmt::print("{}", *text);
  return kOk;
}

}  // namespace

Verb add_store_verb(CLI::App& app) {
  CLI::App* words =
      app.add_subcommand("store", "Check, back up or restore what `muster up` keeps on disk");
  const auto flags = std::make_shared<StoreFlags>();
  add_store_flags(*words, *flags);
  return {words, [words, flags] { return store(*words, *flags); }};
}

}  // namespace muster::app
