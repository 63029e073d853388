// A callable that lives in its caller, behind one pointer to a function: the parameter of virtual calls where a
// template would take a callable.
#pragma once

#include <type_traits>
#include <utility>

namespace heddle::lln {

template <class Signature>
class FunctionRef;

// Valid as long as the callable that it refers to.
template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class F, class = std::enable_if_t<!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>>>
  FunctionRef(F&& f)
      : what_(const_cast<void*>(static_cast<const void*>(&f))), call_([](void* what, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(what))(std::forward<Args>(args)...);
        }) {}

  R operator()(Args... args) const { return call_(what_, std::forward<Args>(args)...); }

 private:
  void* what_;
  R (*call_)(void*, Args...);
};

}  // namespace heddle::lln
