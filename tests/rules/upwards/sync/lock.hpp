// What rules.includes must find: a lock that knows a network.
#include "lln/shm/ring.hpp"
