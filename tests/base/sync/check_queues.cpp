#include "check.hpp"
#include "engine.hpp"
#include "flux_body.hpp"
#include "lane_body.hpp"
#include "queue_body.hpp"
#include "queues.hpp"

namespace heddle::test {

using platform::Checker;

void enroll_queues() {
  ManyProducerQueues<Checker>::for_each([]<class C>(C) {
    using Body = QueueBody<Checker, typename C::type, 3>;
    enroll<Body>("queue-once/" + std::string(C::name), 2, 1);
    enroll<Body>("queue/" + std::string(C::name), 2, 4);
    enroll<Body>("queue/" + std::string(C::name), 3, 2);
  });
  OneProducerQueues<Checker>::for_each(
      []<class C>(C) { enroll<QueueBody<Checker, typename C::type, 3>>("queue/" + std::string(C::name), 2, 4); });
  LinearizableQueues<Checker>::for_each([]<class C>(C) {
    using Body = VisibleBody<Checker, typename C::type, 3>;
    enroll<Body>("queue-visible/" + std::string(C::name), 2, 1);
    enroll<Body>("queue-visible/" + std::string(C::name), 3, 1);
  });
  enroll<FluxBody<Checker, 3>>("flux/ordered", 2, 3);
  enroll<FluxBody<Checker, 3>>("flux/ordered", 3, 2);
  enroll<FluxBody<Checker, 3, Looks::once>>("flux/looks-once", 3, 2, true);
  enroll<LaneBody<Checker, 3>>("lanes/ordered", 2, 4);
  enroll<LaneBody<Checker, 3>>("lanes/ordered", 3, 3);
  enroll<LaneBody<Checker, 3, Passes::one>>("lanes/one-pass", 2, 3, true);
}

}  // namespace heddle::test
