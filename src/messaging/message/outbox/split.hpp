// Strategy "split": "aggregate", and each long message goes over all rails at once.
//
// Of its pieces so many are on their way over each rail, and the receiver says how many have come: a rail that takes them there three times
// as fast is heard of three times as often, and gets three times as many. So the ratio is that of the bandwidths there are at that moment.
//
// Source: NewMadeleine's strategy of that name splits by bandwidths that were sampled (Aumage, Brunet, Furmento, Namyst 2007); to count what
// has come is ours.
#pragma once

#include "messaging/message/outbox/aggregate.hpp"

namespace heddle::message {

class SplitStrategy final : public AggregateStrategy {
 public:
  int pieces_ahead() const override { return 16; }
};

}  // namespace heddle::message
