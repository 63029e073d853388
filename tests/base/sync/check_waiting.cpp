#include "announcements_body.hpp"
#include "backlog_body.hpp"
#include "called_body.hpp"
#include "check.hpp"
#include "counter_body.hpp"
#include "counters.hpp"
#include "deferred_timer_body.hpp"
#include "doorbell_body.hpp"
#include "election_body.hpp"
#include "engine.hpp"
#include "errand_body.hpp"
#include "patience_body.hpp"
#include "roles_body.hpp"
#include "round_slots_body.hpp"
#include "slot_sets_body.hpp"
#include "watch_body.hpp"
#include "watched_rank_body.hpp"
#include "word_body.hpp"
#include "work_body.hpp"

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
  enroll<BacklogBody<Checker>>("doorbell/backlog-alone", 2, 1);
  enroll<BacklogBody<Checker>>("doorbell/backlog-alone", 3, 1);
  enroll<WatchBody<Checker>>("watch/sleeper", 4, 1);
  enroll<WatchBody<Checker>>("watch/sleeper-of-two", 4, 2);
  enroll<WatchBody<Checker, true>>("watch/taken-by-another", 4, 1);
  enroll<WatchBody<Checker, false, Omitted::append>>("watch/append-unannounced", 4, 1, true);
  enroll<WatchBody<Checker, false, Omitted::room>>("watch/no-room-wanted", 4, 1, true);
  enroll<WatchBody<Checker, false, Omitted::arming>>("watch/not-armed", 4, 1, true);
  enroll<WatchBody<Checker, true, Omitted::taken>>("watch/taken-unannounced", 4, 1, true);
  enroll<WordBody<Checker>>("word/sleeper", 4, 1);
  enroll<WordBody<Checker, Omitted::taken>>("word/taken-unannounced", 4, 1, true);
  enroll<WorkBody<Checker, 1>>("work/held", 3, 1);
  enroll<WorkBody<Checker, 2>>("work/held-of-two", 3, 1);
  enroll<WorkBody<Checker, 1, Put::silently>>("work/put-back-silently", 3, 1, true);
  enroll<CalledBody<Checker>>("work/called", 3, 2);
  enroll<CalledBody<Checker>>("work/called", 4, 1);
  enroll<CalledBody<Checker, Calls::silently>>("work/called-silently", 3, 2, true);
  enroll<ErrandBody<Checker>>("errand", 2, 3);
  for (const unsigned threads : {2U, 3U}) enroll<DeferredTimerBody<Checker>>("deferred_timer", threads, 2);
  enroll<DeferredTimerBody<Checker, Timer::looked_first>>("deferred_timer/looks-first", 2, 2, true);
  for (const unsigned threads : {2U, 3U}) enroll<PatienceBody<Checker>>("patience", threads, 1);
  enroll<ServerBody<Checker, 2>>("roles/server", 2, 2);
  enroll<ServerBody<Checker, 3>>("roles/server", 3, 2);
  for (const unsigned threads : {2U, 3U}) enroll<ConditionBody<Checker, 3>>("roles/condition", threads, 1);
  enroll<ServerBody<Checker, 3, HandOver::left_out>>("roles/no-hand-over", 3, 1, true);
  enroll<ServerBody<Checker, 3, HandOver::unwoken>>("roles/unwoken-hand-over", 3, 1, true);
  enroll<ResignBody<Checker, Steps::any_thread>>("roles/resign", 3, 1);
  enroll<ResignBody<Checker, Steps::program>>("roles/resign-and-called", 3, 1);
  enroll<ResignToBody<Checker>>("roles/resign-to", 3, 1);
  enroll<ListenBody<Checker>>("roles/listen", 3, 1);
  enroll<ListenBody<Checker>>("roles/listen-after-leaving", 3, 2);
  enroll<ListenBody<Checker, Left::unannounced>>("roles/listen-unannounced", 3, 2, true);
  enroll<AnnouncementsBody<Checker, 3, 6>>("announcements", 2, 2);
  enroll<AnnouncementsBody<Checker, 3, 6>>("announcements", 3, 1);
  for (const unsigned threads : {2U, 3U}) {
    enroll<ReduceBody<Checker, 3>>("slot-sets/reduce", threads, 4);
    enroll<BroadcastBody<Checker, 3>>("slot-sets/broadcast", threads, 4);
    enroll<GatherBody<Checker, 3>>("slot-sets/gather", threads, 4);
  }
  enroll<RoundSlotsBody<Checker>>("round-slots", 2, 4);
  enroll<RoundSlotsBody<Checker>>("round-slots", 3, 3);
  enroll<RoundSlotsBody<Checker, Waits::never>>("round-slots-not-free", 2, 4, true);
  enroll<StrayBody<Checker>>("slot-sets/stray", 2, 1);
  enroll<BroadcastBody<Checker, 3, platform::Scope::process, Told::none>>("slot-sets/untold", 2, 4, true);
  enroll<GatherBody<Checker, 3, platform::Scope::process, Filled::too_early>>("slot-sets/filled-too-early", 2, 4, true);
}

}  // namespace heddle::test
