#include "announcements_body.hpp"
#include "check.hpp"
#include "counter_body.hpp"
#include "counters.hpp"
#include "doorbell_body.hpp"
#include "election_body.hpp"
#include "engine.hpp"

namespace heddle::test {

using platform::Checker;

void enroll_waiting() {
  Counters<Checker>::for_each([]<class C>(C) {
    const std::string name(C::name);
    for (const unsigned threads : {2U, 3U}) {
      enroll<CounterBody<Checker, typename C::type, 3>>("counter/" + name, threads, 2);
      enroll<ForceBody<Checker, typename C::type, 3>>("counter-forced/" + name, threads, 1);
      enroll<ElectionBody<Checker, typename C::type, 3>>("election/" + name, threads, 1);
    }
  });
  for (const unsigned threads : {2U, 3U}) {
    enroll<DoorbellBody<Checker, 3>>("doorbell/sleeper", threads, 2);
    enroll<DoorbellBody<Checker, 3, true>>("doorbell/listener", threads, 2);
  }
  enroll<AttachBody<Checker>>("doorbell/attach", 2, 1);
  enroll<RoomBody<Checker>>("doorbell/backlog", 3, 2);
  enroll<RoomBody<Checker>>("doorbell/backlog-of-two", 3, 3);
  enroll<RoomBody<Checker, Left::unannounced>>("doorbell/backlog-unannounced", 3, 2, true);
  enroll<AnnouncementsBody<Checker, 3, 6>>("announcements", 2, 2);
  enroll<AnnouncementsBody<Checker, 3, 6>>("announcements", 3, 1);
}

}  // namespace heddle::test
