// What does nothing goes; chains become one operation; a negated term is a difference.
// run: infer-state,canonicalize,dve
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %y: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %p: !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %a = "ckks.rotate"(%x) {step = 8192 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %b = "ckks.level_drop"(%a) {depth = 1 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %c = "ckks.level_drop"(%b) {depth = 2 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %d = "ckks.neg"(%c) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %e = "ckks.neg"(%d) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %f = "ckks.mul_integer"(%e) {integer = 3 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %g = "ckks.mul_integer"(%f) {integer = -5 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %h = "ckks.level_drop"(%y) {depth = 2 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %i = "ckks.neg"(%h) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %j = "ckks.add"(%i, %g) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %k = "ckks.rotate"(%j) {step = -1 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %l = "ckks.mul_integer"(%k) {integer = 1 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %m = "ckks.mul"(%l, %l) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %n = "ckks.reinterpret_scale"(%m) {scale = "2^80"} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    "func.return"(%n) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %y: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %p: !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %c = "ckks.level_drop"(%x) {depth = 2 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<primes = [0, 1, 2, 3, 4, 5]>
    %g = "ckks.mul_integer"(%c) {integer = -15 : i64} : (!ckks.ciphertext<primes = [0, 1, 2, 3, 4, 5]>) -> !ckks.ciphertext<>
    %h = "ckks.level_drop"(%y) {depth = 2 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<primes = [0, 1, 2, 3, 4, 5]>
    %j = "ckks.sub"(%g, %h) : (!ckks.ciphertext<>, !ckks.ciphertext<primes = [0, 1, 2, 3, 4, 5]>) -> !ckks.ciphertext<>
    %k = "ckks.rotate"(%j) {step = 8191 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %m = "ckks.square"(%k) : (!ckks.ciphertext<>) -> !ckks.ciphertext<batch = [], components = 3, depth = 2, scale = "2^80", primes = [0, 1, 2, 3, 4, 5], basis = Q, domain = ntt, repr = standard, slots = 8192>
    "func.return"(%m) : (!ckks.ciphertext<batch = [], components = 3, depth = 2, scale = "2^80", primes = [0, 1, 2, 3, 4, 5], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 3, depth = 2, scale = "2^80", primes = [0, 1, 2, 3, 4, 5], basis = Q, domain = ntt, repr = standard, slots = 8192>,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
