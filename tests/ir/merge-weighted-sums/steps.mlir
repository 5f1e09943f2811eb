// Two sums of the same steps are two groups of one operation, in whatever order they add up; one giant step is too few for rotate_sum.
// run: infer-state,merge-weighted-sums,dve,cse
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %p: !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %q: !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %r1 = "ckks.rotate"(%x) {step = 1 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %r2 = "ckks.rotate"(%x) {step = 2 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %r3 = "ckks.rotate"(%x) {step = 3 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %a0 = "ckks.mul_plain"(%x, %p) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %a1 = "ckks.mul_plain"(%r1, %q) : (!ckks.ciphertext<>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %a2 = "ckks.mul_plain"(%r2, %p) : (!ckks.ciphertext<>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %a3 = "ckks.mul_plain"(%r3, %q) : (!ckks.ciphertext<>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %as1 = "ckks.add"(%a3, %a0) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %as2 = "ckks.add"(%a1, %a2) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %as = "ckks.add"(%as1, %as2) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %b0 = "ckks.mul_plain"(%x, %p) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %b1 = "ckks.mul_plain"(%r1, %q) : (!ckks.ciphertext<>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %b2 = "ckks.mul_plain"(%r2, %p) : (!ckks.ciphertext<>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %b3 = "ckks.mul_plain"(%r3, %q) : (!ckks.ciphertext<>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %bs1 = "ckks.add"(%b3, %b0) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %bs2 = "ckks.add"(%b1, %b2) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %bs = "ckks.add"(%bs1, %bs2) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %t = "ckks.rotate"(%bs) {step = 4 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %y = "ckks.add"(%as, %t) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    "func.return"(%y) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %p: !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %q: !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %0 = "ckks.prepare_plain"(%p) {for = "weighted"} : (!ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.plaintext<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>
    %1 = "ckks.prepare_plain"(%q) {for = "weighted"} : (!ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.plaintext<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>
    %bs:2 = "ckks.rotate_weighted_sum"(%x, %0, %1, %0, %1, %0, %1, %0, %1) {groups = 2 : i64, steps = [0, 1, 2, 3]} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>, !ckks.plaintext<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>, !ckks.plaintext<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>, !ckks.plaintext<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>, !ckks.plaintext<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>, !ckks.plaintext<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>, !ckks.plaintext<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>, !ckks.plaintext<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>) -> (!ckks.ciphertext<>, !ckks.ciphertext<>)
    %t = "ckks.rotate"(%bs#0) {step = 4 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %y = "ckks.add"(%bs#1, %t) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    "func.return"(%y) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
