#include "server/access/permission.h"

namespace muster::server {

Result<void> Permission::check(Time now) {
  if (token_) TRY(access_.authenticator().check_holds(*token_, now));
  const std::int64_t generation = access_.authorizer().generation();
  if (generation == seen_) return {};
  const std::int64_t changed_at = access_.authorizer().roles()->changed_at(asked_.name_space);
  if (changed_at != judged_at_) {
    ++judgements_;
    TRY(access_.authorizer().authorize(user_, asked_));
  }
  judged_at_ = changed_at;
  seen_ = generation;
  return {};
}

}  // namespace muster::server
