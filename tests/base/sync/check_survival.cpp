#include "check.hpp"
#include "engine.hpp"
#include "survival_body.hpp"

namespace heddle::test {

using platform::Checker;

void enroll_survival() {
  for (const unsigned threads : {2U, 3U}) {
    enroll<RobustLockBody<Checker, Owner::lives>>("survival/lock", threads, 2);
    enroll<RobustLockBody<Checker, Owner::dies>>("survival/lock-inherited", threads, 2);
    enroll<AgreementBody<Checker, Death::before>>("survival/agreement-death-before", threads, 2);
    enroll<AgreementBody<Checker, Death::after>>("survival/agreement-death-after", threads, 2);
  }
  enroll<AgreementBody<Checker, Death::after, Counting::once>>("survival/agreement-looks-once", 3, 1, true);
}

}  // namespace heddle::test
