// Every lock on real threads, up to 64 of them.
#include <gtest/gtest.h>

#include <string>

#include "lock_body.hpp"
#include "locks.hpp"
#include "native_run.hpp"
#include "platform/native.hpp"

namespace heddle::test {
namespace {

using platform::Native;
constexpr unsigned max_threads = 64;
constexpr unsigned acquisitions = 20'000;  // in total, however many threads share them

void register_all() {
  Locks<Native>::for_each([]<class C>(C) {
    for (const unsigned threads : {1U, 2U, 3U, 8U, max_threads}) {
      struct Run : testing::Test {
        explicit Run(unsigned n) : threads(n) {}
        void TestBody() override {
          run_on_threads<LockBody<Native, typename C::type, max_threads>>(threads, acquisitions / threads);
        }
        unsigned threads;
      };
      const std::string name = std::string(C::name) + "/" + std::to_string(threads);
      testing::RegisterTest("Lock", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [threads]() -> testing::Test* { return new Run(threads); });
    }
  });
}

}  // namespace
}  // namespace heddle::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  heddle::test::register_all();
  return RUN_ALL_TESTS();
}
