// State flows from the input through products, rescaling and sums; scales stay exact.
// run: infer-state
// params: n14-d7-s40
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 8192>):
    %a = "ckks.square"(%x) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %b = "ckks.relinearize"(%a) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %c = "ckks.rescale"(%b) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %d = "ckks.mul_scalar"(%c) {scale = "2^40", value = 0.5 : f64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %e = "ckks.rescale"(%d) {output_domain = "coefficient"} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    "func.return"(%e) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %a = "ckks.square"(%x) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 3, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    %b = "ckks.relinearize"(%a) : (!ckks.ciphertext<batch = [], components = 3, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    %c = "ckks.rescale"(%b) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>
    %d = "ckks.mul_scalar"(%c) {scale = "2^40", value = 5.000000e-01 : f64} : (!ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^120*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>
    %e = "ckks.rescale"(%d) {output_domain = "coefficient"} : (!ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^120*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 2, scale = "2^120*q6^-1*q7^-1", primes = [0, 1, 2, 3, 4, 5], basis = Q, domain = coefficient, repr = standard, slots = 8192>
    "func.return"(%e) : (!ckks.ciphertext<batch = [], components = 2, depth = 2, scale = "2^120*q6^-1*q7^-1", primes = [0, 1, 2, 3, 4, 5], basis = Q, domain = coefficient, repr = standard, slots = 8192>) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 2, scale = "2^120*q6^-1*q7^-1", primes = [0, 1, 2, 3, 4, 5], basis = Q, domain = coefficient, repr = standard, slots = 8192>,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
