// Strategy "split": "aggregate", but each long message uses all rails at once.
//
// The number of pieces in flight on each rail is bounded, and the receiver acknowledges pieces by rail. A rail that delivers three times
// as fast is acknowledged three times as often, and carries three times as many pieces. So the pieces are divided by the present
// bandwidths.
//
// Source: NewMadeleine's strategy of that name divides by sampled bandwidths (Aumage, Brunet, Furmento, Namyst 2007); counting
// acknowledged pieces is ours.
#pragma once

#include "messaging/message/outbox/aggregate.hpp"

namespace heddle::message {

class SplitStrategy final : public AggregateStrategy {
 public:
  int pieces_ahead() const override { return 16; }
};

}  // namespace heddle::message
