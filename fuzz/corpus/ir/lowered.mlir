!t0 = !ckks.ciphertext<batch = [], components = 2, depth = 5, scale = "2^40", primes = [0, 1, 2], basis = Q, domain = ntt, repr = standard, slots = 8192>
!t1 = !ckks.key<kind = galois, element = 5>
!t2 = !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1, 2], basis = Q, domain = ntt, repr = standard>
!t3 = !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1, 2], basis = Q, domain = coefficient, repr = standard>
!t4 = !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1, 2, 8, 9], basis = QP, domain = coefficient, repr = standard>
!t5 = !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1, 2, 8, 9], basis = QP, domain = ntt, repr = standard>
!t6 = !rns.tensor<dtype = u64, batch = [], components = 2, primes = [0, 1, 2, 8, 9], basis = QP, domain = ntt, repr = standard>
!t7 = !rns.tensor<dtype = u64, batch = [], components = 2, primes = [0, 1, 2, 8, 9], basis = QP, domain = coefficient, repr = standard>
!t8 = !rns.tensor<dtype = u64, batch = [], components = 2, primes = [0, 1, 2], basis = Q, domain = coefficient, repr = standard>
!t9 = !rns.tensor<dtype = u64, batch = [], components = 2, primes = [0, 1, 2], basis = Q, domain = ntt, repr = standard>
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !t0):
    %galois_5 = "material.ref"() {symbol = @galois_5} : () -> !t1
    %0 = "rns.select_components"(%x) {count = 1 : i64, first = 1 : i64} : (!t0) -> !t2
    %1 = "ntt.inverse"(%0) : (!t2) -> !t3
    %2 = "rns.mod_up"(%1) {digit = 0 : i64} : (!t3) -> !t4
    %3 = "ntt.forward"(%2) : (!t4) -> !t5
    %4 = "rns.mod_up"(%1) {digit = 1 : i64} : (!t3) -> !t4
    %5 = "ntt.forward"(%4) : (!t4) -> !t5
    %6 = "rns.select_components"(%x) {count = 1 : i64, first = 0 : i64} : (!t0) -> !t2
    %7 = "rns.key_slice"(%galois_5) {digit = 0 : i64, ids = [0, 1, 2, 8, 9]} : (!t1) -> !t6
    %8 = "rns.mul"(%3, %7) : (!t5, !t6) -> !t6
    %9 = "rns.key_slice"(%galois_5) {digit = 1 : i64, ids = [0, 1, 2, 8, 9]} : (!t1) -> !t6
    %10 = "rns.mul_add"(%8, %5, %9) : (!t6, !t5, !t6) -> !t6
    %11 = "ntt.inverse"(%10) : (!t6) -> !t7
    %12 = "rns.mod_down"(%11) {rounding = "nearest"} : (!t7) -> !t8
    %13 = "ntt.forward"(%12) : (!t8) -> !t9
    %14 = "rns.select_components"(%13) {count = 1 : i64, first = 0 : i64} : (!t9) -> !t2
    %15 = "rns.add"(%14, %6) : (!t2, !t2) -> !t2
    %16 = "rns.select_components"(%13) {count = 1 : i64, first = 1 : i64} : (!t9) -> !t2
    %17 = "rns.pack_components"(%15, %16) : (!t2, !t2) -> !t9
    %r = "rns.automorphism"(%17) {element = 5 : i64} : (!t9) -> !t0
    "func.return"(%r) : (!t0) -> ()
  }) {
    function_type = (!t0) -> !t0,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
