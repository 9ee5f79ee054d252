namespace a { template <typename T> [[kernel, host_name("x" "y")]] [[maybe_unused]]
void f(device T *x [[buffer(0)]], constant P &p [[buffer(1), function_constant(c)]],
       threadgroup T *d [[threadgroup(0)]], constant int w[2][3]) {
  const threadgroup vec<T, (2 > 1)> s[4], t; alignas(8) threadgroup int u = {0};
  switch (s) { case 1: threadgroup float v[3]; break; default: ; }
  s[1].x += y ? x[i] : c ? p : q, z; v[i++] += 1; f(a ? b : c);
} }
