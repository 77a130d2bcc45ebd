#include "server/access/permission.h"

namespace muster::server {

Result<void> Permission::check(Time now) {
  if (token_) TRY(access_.authenticator().check_holds(*token_, now));
  const std::int64_t generation = access_.authorizer().generation();
  if (generation == judged_at_) return {};
  TRY(access_.authorizer().authorize(user_, asked_));
  judged_at_ = generation;
  return {};
}

}  // namespace muster::server
