// Inner loops first; a loop without a turn gives what it was given; counters are constants.
// run: infer-state,unroll,dve
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %l = "arith.constant"() {value = 1 : index} : () -> index
    %u = "arith.constant"() {value = 3 : index} : () -> index
    %t = "arith.constant"() {value = 1 : index} : () -> index
    %k = "arith.constant"() {value = 0 : index} : () -> index
    %r, %m = "scf.for"(%l, %u, %t, %x, %k) ({
    ^body(%i: index, %c: !ckks.ciphertext<>, %j: index):
      %d = "scf.for"(%l, %u, %t, %c) ({
      ^inner(%h: index, %e: !ckks.ciphertext<>):
        %q = "ckks.neg"(%e) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
        "scf.yield"(%q) : (!ckks.ciphertext<>) -> ()
      }) : (index, index, index, !ckks.ciphertext<>) -> !ckks.ciphertext<>
      %p = "arith.addi"(%i, %j) : (index, index) -> index
      "scf.yield"(%d, %p) : (!ckks.ciphertext<>, index) -> ()
    }) : (index, index, index, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, index) -> (!ckks.ciphertext<>, index)
    %g, %w = "scf.for"(%u, %l, %t, %r, %m) ({
    ^none(%i: index, %c: !ckks.ciphertext<>, %j: index):
      "scf.yield"(%c, %i) : (!ckks.ciphertext<>, index) -> ()
    }) : (index, index, index, !ckks.ciphertext<>, index) -> (!ckks.ciphertext<>, index)
    "func.return"(%g, %w) : (!ckks.ciphertext<>, index) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<>, index)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %k = "arith.constant"() {value = 0 : index} : () -> index
    %0 = "arith.constant"() {value = 1 : index} : () -> index
    %q = "ckks.neg"(%x) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %q_1 = "ckks.neg"(%q) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %p = "arith.addi"(%0, %k) : (index, index) -> index
    %1 = "arith.constant"() {value = 2 : index} : () -> index
    %q_2 = "ckks.neg"(%q_1) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %q_3 = "ckks.neg"(%q_2) : (!ckks.ciphertext<>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    %p_1 = "arith.addi"(%1, %p) : (index, index) -> index
    "func.return"(%q_3, %p_1) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, index) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, index),
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
