// Every depth has one scale, so terms of one depth add up as they are.
// run: insert-relinearize,manage-scales{mode=exact}
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
    %2 = "ckks.mul_scalar"(%x) {scale = "2^40", value = 1.000000e+00 : f64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %3 = "ckks.rescale"(%2) : (!ckks.ciphertext<>) -> !ckks.ciphertext<scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6]>
    %4 = "ckks.mul"(%x2, %3) : (!ckks.ciphertext<scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6]>, !ckks.ciphertext<scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6]>) -> !ckks.ciphertext<>
    %5 = "ckks.relinearize"(%4) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %x3 = "ckks.rescale"(%5) : (!ckks.ciphertext<>) -> !ckks.ciphertext<scale = "2^160*q6^-1*q7^-2", primes = [0, 1, 2, 3, 4, 5]>
    %6 = "ckks.mul_scalar"(%x3) {scale = "2^160*q6^-1*q7^-2", value = 2.500000e-01 : f64} : (!ckks.ciphertext<scale = "2^160*q6^-1*q7^-2", primes = [0, 1, 2, 3, 4, 5]>) -> !ckks.ciphertext<>
    %c = "ckks.rescale"(%6) : (!ckks.ciphertext<>) -> !ckks.ciphertext<scale = "2^320*q5^-1*q6^-2*q7^-4", primes = [0, 1, 2, 3, 4]>
    %7 = "ckks.mul_scalar"(%x) {scale = "2^40", value = 1.500000e+00 : f64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %d = "ckks.rescale"(%7) : (!ckks.ciphertext<>) -> !ckks.ciphertext<scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6]>
    %8 = "ckks.level_drop"(%d) {depth = 2 : i64} : (!ckks.ciphertext<scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6]>) -> !ckks.ciphertext<primes = [0, 1, 2, 3, 4, 5]>
    %9 = "ckks.mul_scalar"(%8) {scale = "2^240*q6^-2*q7^-3", value = 1.000000e+00 : f64} : (!ckks.ciphertext<primes = [0, 1, 2, 3, 4, 5]>) -> !ckks.ciphertext<>
    %10 = "ckks.rescale"(%9) : (!ckks.ciphertext<>) -> !ckks.ciphertext<scale = "2^320*q5^-1*q6^-2*q7^-4", primes = [0, 1, 2, 3, 4]>
    %s = "ckks.add"(%c, %10) : (!ckks.ciphertext<scale = "2^320*q5^-1*q6^-2*q7^-4", primes = [0, 1, 2, 3, 4]>, !ckks.ciphertext<scale = "2^320*q5^-1*q6^-2*q7^-4", primes = [0, 1, 2, 3, 4]>) -> !ckks.ciphertext<>
    %11 = "ckks.level_drop"(%p) {depth = 3 : i64} : (!ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.plaintext<primes = [0, 1, 2, 3, 4]>
    %12 = "ckks.mul_plain"(%s, %11) : (!ckks.ciphertext<>, !ckks.plaintext<primes = [0, 1, 2, 3, 4]>) -> !ckks.ciphertext<>
    %w = "ckks.rescale"(%12) : (!ckks.ciphertext<>) -> !ckks.ciphertext<scale = "2^360*q4^-1*q5^-1*q6^-2*q7^-4", primes = [0, 1, 2, 3]>
    %13 = "ckks.level_drop"(%x) {depth = 3 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<primes = [0, 1, 2, 3, 4]>
    %14 = "ckks.mul_scalar"(%13) {scale = "2^320*q5^-1*q6^-2*q7^-4", value = 1.000000e+00 : f64} : (!ckks.ciphertext<primes = [0, 1, 2, 3, 4]>) -> !ckks.ciphertext<>
    %15 = "ckks.rescale"(%14) : (!ckks.ciphertext<>) -> !ckks.ciphertext<scale = "2^360*q4^-1*q5^-1*q6^-2*q7^-4", primes = [0, 1, 2, 3]>
    %r = "ckks.add"(%w, %15) : (!ckks.ciphertext<scale = "2^360*q4^-1*q5^-1*q6^-2*q7^-4", primes = [0, 1, 2, 3]>, !ckks.ciphertext<scale = "2^360*q4^-1*q5^-1*q6^-2*q7^-4", primes = [0, 1, 2, 3]>) -> !ckks.ciphertext<batch = [], components = 2, depth = 4, scale = "2^360*q4^-1*q5^-1*q6^-2*q7^-4", primes = [0, 1, 2, 3], basis = Q, domain = ntt, repr = standard, slots = 8192>
    "func.return"(%r) : (!ckks.ciphertext<batch = [], components = 2, depth = 4, scale = "2^360*q4^-1*q5^-1*q6^-2*q7^-4", primes = [0, 1, 2, 3], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 4, scale = "2^360*q4^-1*q5^-1*q6^-2*q7^-4", primes = [0, 1, 2, 3], basis = Q, domain = ntt, repr = standard, slots = 8192>,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
