#include "access_body.hpp"
#include "check.hpp"
#include "engine.hpp"

namespace heddle::test {

using platform::Checker;

void enroll_accesses() {
  Accesses<Checker>::for_each([]<class C>(C) {
    for (const unsigned threads : {2U, 3U})
      enroll<AccessBody<Checker, typename C::type, 3>>("access/" + std::string(C::name), threads, 4 - threads / 3 * 2);
  });
  Accesses<Checker>::for_each([]<class C>(C) {
    if constexpr (C::type::submits) {
      enroll<HandedOnBody<Checker, typename C::type>>("access/handed-on-" + std::string(C::name), 2, 2);
      enroll<HandedOnBody<Checker, typename C::type>>("access/handed-on-of-several-" + std::string(C::name), 3, 1);
    }
  });
  enroll<LeftWorkBody<Checker>>("access/left-work", 2, 2);
  enroll<LeftWorkBody<Checker>>("access/left-work-of-several", 3, 1);
}

}  // namespace heddle::test
