// Inside a branch, with plaintexts that are defined after the first sum.
// run: infer-state,merge-weighted-sums,dve
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%c: i1, %x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %p: !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %r = "scf.if"(%c) ({
      %r1 = "ckks.rotate"(%x) {step = 1 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
      %r2 = "ckks.rotate"(%x) {step = 2 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
      %r3 = "ckks.rotate"(%x) {step = 3 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
      %a1 = "ckks.mul_plain"(%r1, %p) : (!ckks.ciphertext<>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
      %a2 = "ckks.mul_plain"(%r2, %p) : (!ckks.ciphertext<>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
      %a3 = "ckks.mul_plain"(%r3, %p) : (!ckks.ciphertext<>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
      %as1 = "ckks.add"(%a1, %a2) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
      %as = "ckks.add"(%as1, %a3) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
      %w = "material.ref"() {symbol = @w} : () -> !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
      %b1 = "ckks.mul_plain"(%r1, %w) : (!ckks.ciphertext<>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
      %b2 = "ckks.mul_plain"(%r2, %w) : (!ckks.ciphertext<>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
      %b3 = "ckks.mul_plain"(%r3, %w) : (!ckks.ciphertext<>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
      %bs1 = "ckks.add"(%b1, %b2) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
      %bs = "ckks.add"(%bs1, %b3) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
      %s = "ckks.sub"(%as, %bs) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
      "scf.yield"(%s) : (!ckks.ciphertext<>) -> ()
    }, {
      %n = "ckks.mul_plain"(%x, %p) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
      "scf.yield"(%n) : (!ckks.ciphertext<>) -> ()
    }) : (i1) -> !ckks.ciphertext<>
    "func.return"(%r) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (i1, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%c: i1, %x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %p: !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %r = "scf.if"(%c) ({
      %w = "material.ref"() {symbol = @w} : () -> !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
      %0 = "ckks.prepare_plain"(%p) {for = "weighted"} : (!ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.plaintext<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>
      %1 = "ckks.prepare_plain"(%p) {for = "weighted"} : (!ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.plaintext<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>
      %2 = "ckks.prepare_plain"(%p) {for = "weighted"} : (!ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.plaintext<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>
      %3 = "ckks.prepare_plain"(%w) {for = "weighted"} : (!ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.plaintext<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>
      %4 = "ckks.prepare_plain"(%w) {for = "weighted"} : (!ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.plaintext<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>
      %5 = "ckks.prepare_plain"(%w) {for = "weighted"} : (!ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.plaintext<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>
      %as, %bs = "ckks.rotate_weighted_sum"(%x, %0, %1, %2, %3, %4, %5) {groups = 2 : i64, steps = [1, 2, 3]} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>, !ckks.plaintext<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>, !ckks.plaintext<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>, !ckks.plaintext<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>, !ckks.plaintext<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>, !ckks.plaintext<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>) -> (!ckks.ciphertext<>, !ckks.ciphertext<>)
      %s = "ckks.sub"(%as, %bs) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
      "scf.yield"(%s) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
    }, {
      %n = "ckks.mul_plain"(%x, %p) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
      "scf.yield"(%n) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
    }) : (i1) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    "func.return"(%r) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
  }) {
    function_type = (i1, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
