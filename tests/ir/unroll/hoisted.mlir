// Turns one by one: equal rotations of different turns are one, and those of one value are hoisted together.
// run: infer-state,unroll,cse,hoist-rotations,dve
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %l = "arith.constant"() {value = 0 : index} : () -> index
    %u = "arith.constant"() {value = 4 : index} : () -> index
    %t = "arith.constant"() {value = 2 : index} : () -> index
    %r = "scf.for"(%l, %u, %t, %x) ({
    ^body(%i: index, %c: !ckks.ciphertext<>):
      %a = "ckks.rotate"(%x) {step = 1 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
      %b = "ckks.rotate"(%x) {step = 2 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
      %s = "ckks.add"(%a, %b) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
      %q = "ckks.add"(%s, %c) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
      "scf.yield"(%q) : (!ckks.ciphertext<>) -> ()
    }) : (index, index, index, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    "func.return"(%r) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %a, %b = "ckks.rotate_many"(%x) {steps = [1, 2]} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<>, !ckks.ciphertext<>)
    %s = "ckks.add"(%a, %b) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %q = "ckks.add"(%s, %x) : (!ckks.ciphertext<>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %q_1 = "ckks.add"(%s, %q) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    "func.return"(%q_1) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
