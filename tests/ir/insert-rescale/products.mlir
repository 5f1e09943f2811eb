// Behind the relinearize of a product, behind products with plaintexts; not behind a product with a small constant.
// run: insert-relinearize,insert-rescale
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %p: !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %a = "ckks.square"(%x) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %b = "ckks.mul_plain"(%x, %p) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %c = "ckks.mul_scalar"(%b) {scale = "2^10", value = 0.5 : f64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %d = "ckks.rescale"(%c) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    "func.return"(%a, %d) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<>, !ckks.ciphertext<>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %p: !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %0 = "ckks.square"(%x) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %1 = "ckks.relinearize"(%0) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %a = "ckks.rescale"(%1) : (!ckks.ciphertext<>) -> !ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>
    %2 = "ckks.mul_plain"(%x, %p) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %b = "ckks.rescale"(%2) : (!ckks.ciphertext<>) -> !ckks.ciphertext<scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6]>
    %c = "ckks.mul_scalar"(%b) {scale = "2^10", value = 5.000000e-01 : f64} : (!ckks.ciphertext<scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6]>) -> !ckks.ciphertext<>
    %d = "ckks.rescale"(%c) : (!ckks.ciphertext<>) -> !ckks.ciphertext<batch = [], components = 2, depth = 2, scale = "2^90*q6^-1*q7^-1", primes = [0, 1, 2, 3, 4, 5], basis = Q, domain = ntt, repr = standard, slots = 8192>
    "func.return"(%a, %d) : (!ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 2, scale = "2^90*q6^-1*q7^-1", primes = [0, 1, 2, 3, 4, 5], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 2, scale = "2^90*q6^-1*q7^-1", primes = [0, 1, 2, 3, 4, 5], basis = Q, domain = ntt, repr = standard, slots = 8192>),
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
