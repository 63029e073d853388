#include "check.hpp"
#include "combining.hpp"
#include "engine.hpp"
#include "lock_body.hpp"
#include "locks.hpp"

namespace heddle::test {

using platform::Checker;

void enroll_locks() {
  Locks<Checker>::for_each([]<class C>(C) {
    using Body = LockBody<Checker, typename C::type, 3>;
    enroll<WarmLockBody<Checker, typename C::type, 3>>("lock-once/" + std::string(C::name), 2, 1);
    enroll<Body>("lock/" + std::string(C::name), 2, 2);
    enroll<Body>("lock/" + std::string(C::name), 3, 1);
    enroll<TryLockBody<Checker, typename C::type, 3>>("lock-try/" + std::string(C::name), 2, 3);
  });
}

void enroll_combining() {
  Combinings<Checker>::for_each([]<class C>(C) {
    using Body = CombiningBody<Checker, typename C::type, 3>;
    enroll<Body>("combining-once/" + std::string(C::name), 2, 1);
    enroll<Body>("combining/" + std::string(C::name), 2, 2);
    enroll<Body>("combining/" + std::string(C::name), 3, 1);
    enroll<Body>("combining/" + std::string(C::name) + "/reuse", 3, 3);
  });
}

}  // namespace heddle::test
