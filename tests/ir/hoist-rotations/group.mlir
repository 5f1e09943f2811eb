// Rotations of one value are one operation; a copy, another output domain and a rotation of another value stay.
// run: infer-state,hoist-rotations
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %a = "ckks.rotate"(%x) {step = 1 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %z = "ckks.rotate"(%x) {step = 8192 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %b = "ckks.rotate"(%x) {step = -1 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %m:2 = "ckks.rotate_many"(%x) {steps = [5, 1]} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<>, !ckks.ciphertext<>)
    %d = "ckks.rotate"(%x) {output_domain = "coefficient", step = 3 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %e = "ckks.rotate"(%a) {step = 2 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %f = "ckks.rotate"(%a) {step = 3 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %s1 = "ckks.add"(%b, %z) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %s2 = "ckks.add"(%s1, %m#0) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %s3 = "ckks.add"(%s2, %m#1) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %s4 = "ckks.add"(%s3, %e) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %s = "ckks.add"(%s4, %f) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    "func.return"(%s, %d) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<>, !ckks.ciphertext<>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %a:4 = "ckks.rotate_many"(%x) {steps = [1, -1, 5, 1]} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>)
    %z = "ckks.rotate"(%x) {step = 8192 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %d = "ckks.rotate"(%x) {output_domain = "coefficient", step = 3 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = coefficient, repr = standard, slots = 8192>
    %e, %f = "ckks.rotate_many"(%a#0) {steps = [2, 3]} : (!ckks.ciphertext<>) -> (!ckks.ciphertext<>, !ckks.ciphertext<>)
    %s1 = "ckks.add"(%a#1, %z) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %s2 = "ckks.add"(%s1, %a#2) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %s3 = "ckks.add"(%s2, %a#3) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %s4 = "ckks.add"(%s3, %e) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %s = "ckks.add"(%s4, %f) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    "func.return"(%s, %d) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = coefficient, repr = standard, slots = 8192>) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = coefficient, repr = standard, slots = 8192>),
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
