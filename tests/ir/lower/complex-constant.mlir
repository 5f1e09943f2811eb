// A complex constant is a polynomial of two values a row.
// run: infer-state,resolve-keys,lower
// params: n14-d7-s40
// print: aliases
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 5, scale = "2^40", domain = ntt, repr = standard, slots = 8192>):
    %r = "ckks.mul_scalar"(%x) {scale = "2^20", value = [0.5, -1.0]} : (!ckks.ciphertext<batch = [], components = 2, depth = 5, scale = "2^40", domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    "func.return"(%r) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 5, scale = "2^40", domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
!t0 = !ckks.ciphertext<batch = [], components = 2, depth = 5, scale = "2^40", primes = [0, 1, 2], basis = Q, domain = ntt, repr = standard, slots = 8192>
!t1 = !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1, 2], basis = Q, domain = ntt, repr = standard>
!t2 = !ckks.ciphertext<batch = [], components = 2, depth = 5, scale = "2^60", primes = [0, 1, 2], basis = Q, domain = ntt, repr = standard, slots = 8192>
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !t0):
    %0 = "core.constant"() {ids = [0, 1, 2], residues = [652867819358035, 473032086370478, 1071311092676, 28197651517, 194305472874, 905210054295]} : () -> !t1
    %r = "rns.mul"(%x, %0) : (!t0, !t1) -> !t2
    "func.return"(%r) : (!t2) -> ()
  }) {
    function_type = (!t0) -> !t2,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
