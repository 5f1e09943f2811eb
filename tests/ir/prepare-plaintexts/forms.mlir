// Added where coefficients are given, dropped where nothing changes, folded into references, out of loops.
// run: prepare-plaintexts,dve
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %c: !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = coefficient, repr = standard, slots = 8192>):
    %k0 = "arith.constant"() {value = 0 : index} : () -> index
    %k1 = "arith.constant"() {value = 1 : index} : () -> index
    %w = "material.ref"() {symbol = @w} : () -> !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    %n = "ckks.prepare_plain"(%w) {for = "mul"} : (!ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.plaintext<>
    %m = "ckks.mul_plain"(%x, %n) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<>) -> !ckks.ciphertext<>
    %a = "ckks.mul_plain"(%x, %c) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = coefficient, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %s = "ckks.add"(%m, %a) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %l = "scf.for"(%k0, %k1, %k1, %s) ({
    ^b(%i: index, %v: !ckks.ciphertext<>):
      %u = "material.ref"() {symbol = @u} : () -> !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = coefficient, repr = standard, slots = 8192>
      %d = "ckks.level_drop"(%c) {depth = 0 : i64} : (!ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = coefficient, repr = standard, slots = 8192>) -> !ckks.plaintext<>
      %q = "ckks.mul_plain"(%x, %d) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<>) -> !ckks.ciphertext<>
      %t = "ckks.add"(%v, %q) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
      "scf.yield"(%t) : (!ckks.ciphertext<>) -> ()
    }) : (index, index, index, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %y = "ckks.rotate_weighted_sum"(%x, %w, %w) {steps = [1, 2]} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    "func.return"(%l, %y) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = coefficient, repr = standard, slots = 8192>) -> (!ckks.ciphertext<>, !ckks.ciphertext<>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %c: !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = coefficient, repr = standard, slots = 8192>):
    %k0 = "arith.constant"() {value = 0 : index} : () -> index
    %k1 = "arith.constant"() {value = 1 : index} : () -> index
    %0 = "material.ref"() {heliox.prepare = "weighted", symbol = @w} : () -> !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], basis = QP, domain = ntt, repr = standard, slots = 8192>
    %1 = "material.ref"() {heliox.prepare = "weighted", symbol = @w} : () -> !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], basis = QP, domain = ntt, repr = standard, slots = 8192>
    %w = "material.ref"() {symbol = @w} : () -> !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    %m = "ckks.mul_plain"(%x, %w) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %2 = "ckks.prepare_plain"(%c) {for = "mul"} : (!ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = coefficient, repr = standard, slots = 8192>) -> !ckks.plaintext<>
    %a = "ckks.mul_plain"(%x, %2) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<>) -> !ckks.ciphertext<>
    %s = "ckks.add"(%m, %a) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    %d = "ckks.level_drop"(%c) {depth = 0 : i64} : (!ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = coefficient, repr = standard, slots = 8192>) -> !ckks.plaintext<>
    %3 = "ckks.prepare_plain"(%d) {for = "mul"} : (!ckks.plaintext<>) -> !ckks.plaintext<>
    %l = "scf.for"(%k0, %k1, %k1, %s) ({
    ^entry(%i: index, %v: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
      %q = "ckks.mul_plain"(%x, %3) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<>) -> !ckks.ciphertext<>
      %t = "ckks.add"(%v, %q) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
      "scf.yield"(%t) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
    }) : (index, index, index, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    %y = "ckks.rotate_weighted_sum"(%x, %0, %1) {steps = [1, 2]} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], basis = QP, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], basis = QP, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    "func.return"(%l, %y) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = coefficient, repr = standard, slots = 8192>) -> (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>),
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
