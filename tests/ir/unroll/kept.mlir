// Loops whose bounds are not known, and loops beyond the limit, stay.
// run: infer-state,unroll{most=16}
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %n: index):
    %l = "arith.constant"() {value = 0 : index} : () -> index
    %u = "arith.constant"() {value = 9 : index} : () -> index
    %t = "arith.constant"() {value = 1 : index} : () -> index
    %r = "scf.for"(%l, %n, %t, %x) ({
    ^body(%i: index, %c: !ckks.ciphertext<>):
      %q = "ckks.neg"(%c) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
      "scf.yield"(%q) : (!ckks.ciphertext<>) -> ()
    }) : (index, index, index, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %z = "scf.for"(%l, %u, %t, %x) ({
    ^body(%i: index, %c: !ckks.ciphertext<>):
      %q = "ckks.neg"(%c) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
      "scf.yield"(%q) : (!ckks.ciphertext<>) -> ()
    }) : (index, index, index, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    "func.return"(%r, %z) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, index) -> (!ckks.ciphertext<>, !ckks.ciphertext<>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %n: index):
    %l = "arith.constant"() {value = 0 : index} : () -> index
    %u = "arith.constant"() {value = 9 : index} : () -> index
    %t = "arith.constant"() {value = 1 : index} : () -> index
    %r = "scf.for"(%l, %n, %t, %x) ({
    ^entry(%i: index, %c: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
      %q = "ckks.neg"(%c) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
      "scf.yield"(%q) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
    }) : (index, index, index, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    %z = "scf.for"(%l, %u, %t, %x) ({
    ^entry(%i: index, %c: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
      %q = "ckks.neg"(%c) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
      "scf.yield"(%q) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
    }) : (index, index, index, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    "func.return"(%r, %z) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, index) -> (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>),
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
