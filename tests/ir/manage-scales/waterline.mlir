// Products are rescaled, and terms of other depths and scales are brought to one, exactly.
// run: insert-relinearize,manage-scales{mode=waterline}
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %p: !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %x2 = "ckks.square"(%x) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %x3 = "ckks.mul"(%x2, %x) : (!ckks.ciphertext<>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %c = "ckks.mul_scalar"(%x3) {scale = "2^40", value = 0.25 : f64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %d = "ckks.mul_scalar"(%x) {scale = "2^40", value = 1.5 : f64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %s = "ckks.add"(%c, %d) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %w = "ckks.mul_plain"(%s, %p) : (!ckks.ciphertext<>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %r = "ckks.add"(%w, %x) : (!ckks.ciphertext<>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    "func.return"(%r) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %p: !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %0 = "ckks.square"(%x) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %1 = "ckks.relinearize"(%0) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %x2 = "ckks.rescale"(%1) : (!ckks.ciphertext<>) -> !ckks.ciphertext<scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6]>
    %2 = "ckks.level_drop"(%x) {depth = 1 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<primes = [0, 1, 2, 3, 4, 5, 6]>
    %3 = "ckks.mul"(%x2, %2) : (!ckks.ciphertext<scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6]>, !ckks.ciphertext<primes = [0, 1, 2, 3, 4, 5, 6]>) -> !ckks.ciphertext<>
    %4 = "ckks.relinearize"(%3) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %x3 = "ckks.rescale"(%4) : (!ckks.ciphertext<>) -> !ckks.ciphertext<scale = "2^120*q6^-1*q7^-1", primes = [0, 1, 2, 3, 4, 5]>
    %5 = "ckks.mul_scalar"(%x3) {scale = "2^40", value = 2.500000e-01 : f64} : (!ckks.ciphertext<scale = "2^120*q6^-1*q7^-1", primes = [0, 1, 2, 3, 4, 5]>) -> !ckks.ciphertext<>
    %c = "ckks.rescale"(%5) : (!ckks.ciphertext<>) -> !ckks.ciphertext<scale = "2^160*q5^-1*q6^-1*q7^-1", primes = [0, 1, 2, 3, 4]>
    %6 = "ckks.mul_scalar"(%x) {scale = "2^40", value = 1.500000e+00 : f64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %d = "ckks.rescale"(%6) : (!ckks.ciphertext<>) -> !ckks.ciphertext<scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6]>
    %7 = "ckks.level_drop"(%d) {depth = 2 : i64} : (!ckks.ciphertext<scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6]>) -> !ckks.ciphertext<primes = [0, 1, 2, 3, 4, 5]>
    %8 = "ckks.mul_scalar"(%7) {scale = "2^80*q6^-1", value = 1.000000e+00 : f64} : (!ckks.ciphertext<primes = [0, 1, 2, 3, 4, 5]>) -> !ckks.ciphertext<>
    %9 = "ckks.rescale"(%8) : (!ckks.ciphertext<>) -> !ckks.ciphertext<scale = "2^160*q5^-1*q6^-1*q7^-1", primes = [0, 1, 2, 3, 4]>
    %s = "ckks.add"(%c, %9) : (!ckks.ciphertext<scale = "2^160*q5^-1*q6^-1*q7^-1", primes = [0, 1, 2, 3, 4]>, !ckks.ciphertext<scale = "2^160*q5^-1*q6^-1*q7^-1", primes = [0, 1, 2, 3, 4]>) -> !ckks.ciphertext<>
    %10 = "ckks.level_drop"(%p) {depth = 3 : i64} : (!ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.plaintext<primes = [0, 1, 2, 3, 4]>
    %11 = "ckks.mul_plain"(%s, %10) : (!ckks.ciphertext<>, !ckks.plaintext<primes = [0, 1, 2, 3, 4]>) -> !ckks.ciphertext<>
    %w = "ckks.rescale"(%11) : (!ckks.ciphertext<>) -> !ckks.ciphertext<scale = "2^200*q4^-1*q5^-1*q6^-1*q7^-1", primes = [0, 1, 2, 3]>
    %12 = "ckks.level_drop"(%x) {depth = 3 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<primes = [0, 1, 2, 3, 4]>
    %13 = "ckks.mul_scalar"(%12) {scale = "2^160*q5^-1*q6^-1*q7^-1", value = 1.000000e+00 : f64} : (!ckks.ciphertext<primes = [0, 1, 2, 3, 4]>) -> !ckks.ciphertext<>
    %14 = "ckks.rescale"(%13) : (!ckks.ciphertext<>) -> !ckks.ciphertext<scale = "2^200*q4^-1*q5^-1*q6^-1*q7^-1", primes = [0, 1, 2, 3]>
    %r = "ckks.add"(%w, %14) : (!ckks.ciphertext<scale = "2^200*q4^-1*q5^-1*q6^-1*q7^-1", primes = [0, 1, 2, 3]>, !ckks.ciphertext<scale = "2^200*q4^-1*q5^-1*q6^-1*q7^-1", primes = [0, 1, 2, 3]>) -> !ckks.ciphertext<batch = [], components = 2, depth = 4, scale = "2^200*q4^-1*q5^-1*q6^-1*q7^-1", primes = [0, 1, 2, 3], basis = Q, domain = ntt, repr = standard, slots = 8192>
    "func.return"(%r) : (!ckks.ciphertext<batch = [], components = 2, depth = 4, scale = "2^200*q4^-1*q5^-1*q6^-1*q7^-1", primes = [0, 1, 2, 3], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 4, scale = "2^200*q4^-1*q5^-1*q6^-1*q7^-1", primes = [0, 1, 2, 3], basis = Q, domain = ntt, repr = standard, slots = 8192>,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
