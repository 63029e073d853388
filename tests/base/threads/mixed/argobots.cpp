#include <abt.h>

#include "base/threads/mixed/crew.hpp"

namespace {

struct Unit {
  const std::function<void(int)>* body;
  int number;
  ABT_thread thread;
};

void run(int n, const std::function<void(int)>& body) {
  ABT_init(0, nullptr);
  ABT_xstream stream;
  ABT_self_get_xstream(&stream);
  ABT_thread_attr attributes;
  ABT_thread_attr_create(&attributes);
  ABT_thread_attr_set_stacksize(attributes, 256 * 1024);
  std::vector<Unit> units;
  for (int i = 0; i < n; ++i) units.push_back({&body, i, ABT_THREAD_NULL});
  for (Unit& unit : units)
    ABT_thread_create_on_xstream(
        stream,
        [](void* what) {
          const Unit& me = *static_cast<Unit*>(what);
          (*me.body)(me.number);
        },
        &unit, attributes, &unit.thread);
  for (Unit& unit : units) ABT_thread_free(&unit.thread);  // waits
  ABT_thread_attr_free(&attributes);
  ABT_finalize();
}

const test::Registered registered({"argobots", run});

}  // namespace
