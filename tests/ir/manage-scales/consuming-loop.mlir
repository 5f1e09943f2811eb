// A loop whose carried value loses a depth each turn has no one state: told at the yield.
// run: insert-relinearize,manage-scales,infer-state
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %k0 = "arith.constant"() {value = 0 : index} : () -> index
    %k1 = "arith.constant"() {value = 1 : index} : () -> index
    %k4 = "arith.constant"() {value = 4 : index} : () -> index
    %l = "scf.for"(%k0, %k4, %k1, %x) ({
    ^b(%i: index, %v: !ckks.ciphertext<>):
      %q = "ckks.square"(%v) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
      "scf.yield"(%q) : (!ckks.ciphertext<>) -> ()
    }) : (index, index, index, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    "func.return"(%l) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
14:7: type: scf.yield: yielded value 0 has type !ckks.ciphertext<batch = [], components = 2, depth = 2, scale = "2^160*q6^-1*q7^-2", primes = [0, 1, 2, 3, 4, 5], basis = Q, domain = ntt, repr = standard, slots = 8192>, but carried argument 0 has type !ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>: they differ in depth
