// A finding for rules.includes: a lock that knows a network.
#include "network/shm/ring.hpp"
