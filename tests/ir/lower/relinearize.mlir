// Key switching of the third component, then a sum.
// run: infer-state,resolve-keys,lower
// params: n14-d7-s40
// print: aliases
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 3, depth = 5, scale = "2^40", domain = ntt, repr = standard, slots = 8192>):
    %r = "ckks.relinearize"(%x) : (!ckks.ciphertext<batch = [], components = 3, depth = 5, scale = "2^40", domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    "func.return"(%r) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 3, depth = 5, scale = "2^40", domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
!t0 = !ckks.ciphertext<batch = [], components = 3, depth = 5, scale = "2^40", primes = [0, 1, 2], basis = Q, domain = ntt, repr = standard, slots = 8192>
!t1 = !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1, 2], basis = Q, domain = ntt, repr = standard>
!t2 = !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1, 2], basis = Q, domain = coefficient, repr = standard>
!t3 = !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1, 2, 8, 9], basis = QP, domain = coefficient, repr = standard>
!t4 = !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1, 2, 8, 9], basis = QP, domain = ntt, repr = standard>
!t5 = !rns.tensor<dtype = u64, batch = [], components = 2, primes = [0, 1, 2, 8, 9], basis = QP, domain = ntt, repr = standard>
!t6 = !rns.tensor<dtype = u64, batch = [], components = 2, primes = [0, 1, 2, 8, 9], basis = QP, domain = coefficient, repr = standard>
!t7 = !rns.tensor<dtype = u64, batch = [], components = 2, primes = [0, 1, 2], basis = Q, domain = coefficient, repr = standard>
!t8 = !rns.tensor<dtype = u64, batch = [], components = 2, primes = [0, 1, 2], basis = Q, domain = ntt, repr = standard>
!t9 = !ckks.ciphertext<batch = [], components = 2, depth = 5, scale = "2^40", primes = [0, 1, 2], basis = Q, domain = ntt, repr = standard, slots = 8192>
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !t0):
    %relin = "material.ref"() {symbol = @relin} : () -> !ckks.key<kind = relin>
    %0 = "rns.select_components"(%x) {count = 1 : i64, first = 2 : i64} : (!t0) -> !t1
    %1 = "ntt.inverse"(%0) : (!t1) -> !t2
    %2 = "rns.mod_up"(%1) {digit = 0 : i64} : (!t2) -> !t3
    %3 = "ntt.forward"(%2) : (!t3) -> !t4
    %4 = "rns.mod_up"(%1) {digit = 1 : i64} : (!t2) -> !t3
    %5 = "ntt.forward"(%4) : (!t3) -> !t4
    %6 = "rns.key_slice"(%relin) {digit = 0 : i64, ids = [0, 1, 2, 8, 9]} : (!ckks.key<kind = relin>) -> !t5
    %7 = "rns.mul"(%3, %6) : (!t4, !t5) -> !t5
    %8 = "rns.key_slice"(%relin) {digit = 1 : i64, ids = [0, 1, 2, 8, 9]} : (!ckks.key<kind = relin>) -> !t5
    %9 = "rns.mul_add"(%7, %5, %8) : (!t5, !t4, !t5) -> !t5
    %10 = "ntt.inverse"(%9) : (!t5) -> !t6
    %11 = "rns.mod_down"(%10) {rounding = "nearest"} : (!t6) -> !t7
    %12 = "ntt.forward"(%11) : (!t7) -> !t8
    %13 = "rns.select_components"(%x) {count = 2 : i64, first = 0 : i64} : (!t0) -> !t8
    %r = "rns.add"(%13, %12) : (!t8, !t8) -> !t9
    "func.return"(%r) : (!t9) -> ()
  }) {
    function_type = (!t0) -> !t9,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
