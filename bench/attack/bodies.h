#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Documents made to cost more than their size.
namespace muster::attack {

// JSON of about `bytes` in which one key, under a long path, comes again and again.
std::string duplicate_keys(std::size_t bytes);
// The same under a path of many short steps.
std::string deep_duplicate_keys(std::size_t bytes);
// JSON with as many fields as fit that no kind knows.
std::string unknown_fields(std::size_t bytes);
// YAML whose aliases stand for far more than `bytes`: a long text again and again, and lists of
// lists.
std::string aliased_text(std::size_t bytes);
std::string aliased_lists();
// A JSON patch of about `bytes` that moves a large value to and fro; and one that copies it.
std::string moves(std::size_t bytes);
std::string copies(std::size_t bytes);
// A ResourceQuota with as many wrong scopes as fit.
std::string wrong_scopes(std::size_t bytes);
// A Role of 120 groups, 120 resources and 120 verbs: 1.7 million rights in a few kilobytes. Part
// `number` of many, so that each is new.
std::string wide_role(int number);
// Strategic merge patches of a Deployment's containers.
std::string many_containers(int count);
std::string many_deletions(int count);
std::string many_retained_keys(int count);
std::string many_nulls(int count);
// A ConfigMap: with many owners; with many who have applied a key each; of a given size.
std::string many_owners(std::string_view name, int count);
std::string many_managers(std::string_view name, int count);
std::string large_map(std::string_view name, std::size_t bytes);

}  // namespace muster::attack
