#include "check.hpp"
#include "engine.hpp"
#include "lock_body.hpp"
#include "locks.hpp"

namespace heddle::test {

void enroll_locks() {
  Locks<platform::Checker>::for_each([]<class C>(C) {
    const std::string name = "lock/" + std::string(C::name);
    enroll<LockBody<platform::Checker, typename C::type, 3>>(name, 2, 2);
    enroll<LockBody<platform::Checker, typename C::type, 3>>(name, 3, 1);
  });
}

}  // namespace heddle::test
