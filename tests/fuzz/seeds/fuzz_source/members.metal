static constant constexpr bool c [[function_constant(3)]]; enum class E : int { a, b };
extern "C" { struct S : B<decltype(f())> { public: S() device : a{1}, b(2) {} S() constant : a{1}, b(2) {}
  T operator()(int) const device; T operator()(int) const threadgroup { return {1}; }
  S &operator=(const S &) noexcept(true) device = default; operator T() const constant; } s = {{1}, {2}}; }
constant float t[] = {1, 2}; T S::g() const device -> int { [[clang::loop]] for (;;) { } }
