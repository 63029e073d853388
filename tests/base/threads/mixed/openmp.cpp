#include <omp.h>

#include "base/threads/mixed/crew.hpp"

namespace {

void run(int n, const std::function<void(int)>& body) {
  omp_set_dynamic(0);
#pragma omp parallel num_threads(n)
  body(omp_get_thread_num());
}

const test::Registered registered({"openmp", run});

}  // namespace
