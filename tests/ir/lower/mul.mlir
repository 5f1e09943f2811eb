// Tensor product by components.
// run: infer-state,resolve-keys,lower
// params: n14-d7-s40
// print: aliases
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 5, scale = "2^40", domain = ntt, repr = standard, slots = 8192>):
    %r = "ckks.mul"(%x, %x) : (!ckks.ciphertext<batch = [], components = 2, depth = 5, scale = "2^40", domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 5, scale = "2^40", domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    "func.return"(%r) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 5, scale = "2^40", domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
!t0 = !ckks.ciphertext<batch = [], components = 2, depth = 5, scale = "2^40", primes = [0, 1, 2], basis = Q, domain = ntt, repr = standard, slots = 8192>
!t1 = !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1, 2], basis = Q, domain = ntt, repr = standard>
!t2 = !ckks.ciphertext<batch = [], components = 3, depth = 5, scale = "2^80", primes = [0, 1, 2], basis = Q, domain = ntt, repr = standard, slots = 8192>
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !t0):
    %0 = "rns.select_components"(%x) {count = 1 : i64, first = 0 : i64} : (!t0) -> !t1
    %1 = "rns.select_components"(%x) {count = 1 : i64, first = 1 : i64} : (!t0) -> !t1
    %2 = "rns.mul"(%0, %1) : (!t1, !t1) -> !t1
    %3 = "rns.add"(%2, %2) : (!t1, !t1) -> !t1
    %4 = "rns.mul"(%0, %0) : (!t1, !t1) -> !t1
    %5 = "rns.mul"(%1, %1) : (!t1, !t1) -> !t1
    %r = "rns.pack_components"(%4, %3, %5) : (!t1, !t1, !t1) -> !t2
    "func.return"(%r) : (!t2) -> ()
  }) {
    function_type = (!t0) -> !t2,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
