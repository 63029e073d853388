// What rules.includes must find: a lock that knows a network.
#include "network/shm/ring.hpp"
