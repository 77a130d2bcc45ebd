#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cases.h"
#include "victim.h"

// What most attacks are made of: requests of somebody, again and again.
namespace muster::attack {

using server::testing::Wire;

inline const std::string kCore = "/api/v1/namespaces/tenant/";
inline const std::string kMaps = kCore + "configmaps";

void pause_ms(int ms);

struct Who {
  const Endpoint& server;
  const Credential* credential;
};
Who stranger(const Cast& cast);
Who nobody(const Cast& cast);
Who tenant(const Cast& cast);
Who admin(const Cast& cast);

std::vector<std::string> of_type(const std::string& type);

// Something that a case needs was refused.
struct Unprepared : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// Throws Unprepared unless it is answered well; that something exists already is fine.
void must(const Who& who, const Wire::Ask& ask);

using Asks = std::function<Wire::Ask(int number)>;

// One request after the other, on one connection while it lasts.
void repeat(const Who& who, const Asks& asks, Run& run);
std::function<void(const Cast&, Run&)> repeated(Who (*who)(const Cast&), const Asks& asks);

Asks always(const std::string& method, const std::string& target, const std::string& type,
            const std::string& body);
// Several documents in turn.
Asks patches(const std::string& target, const std::string& type,
             const std::vector<std::string>& bodies);

// Makes objects 0 to count - 1, a few at a time, or as many of them as the server lets. For
// preparations: throws Unprepared like must().
void make_many(const Who& who, int count, const Asks& asks);

}  // namespace muster::attack
