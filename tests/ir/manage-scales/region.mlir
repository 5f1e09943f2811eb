// Branches meet in the deeper state; a loop begins in the state in which its sum comes back.
// run: insert-relinearize,manage-scales,infer-state
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%c: i1, %x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %y: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %k0 = "arith.constant"() {value = 0 : index} : () -> index
    %k1 = "arith.constant"() {value = 1 : index} : () -> index
    %k4 = "arith.constant"() {value = 4 : index} : () -> index
    %r = "scf.if"(%c) ({
      %z = "ckks.square"(%y) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
      "scf.yield"(%z) : (!ckks.ciphertext<>) -> ()
    }, {
      %z2 = "ckks.neg"(%x) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
      "scf.yield"(%z2) : (!ckks.ciphertext<>) -> ()
    }) : (i1) -> !ckks.ciphertext<>
    %l = "scf.for"(%k0, %k4, %k1, %x) ({
    ^b(%i: index, %v: !ckks.ciphertext<>):
      %q = "ckks.square"(%y) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
      %t = "ckks.add"(%v, %q) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
      "scf.yield"(%t) : (!ckks.ciphertext<>) -> ()
    }) : (index, index, index, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %u = "ckks.add"(%r, %l) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    "func.return"(%u) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (i1, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%c: i1, %x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %y: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %k0 = "arith.constant"() {value = 0 : index} : () -> index
    %k1 = "arith.constant"() {value = 1 : index} : () -> index
    %k4 = "arith.constant"() {value = 4 : index} : () -> index
    %r = "scf.if"(%c) ({
      %0 = "ckks.square"(%y) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
      %1 = "ckks.relinearize"(%0) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
      %z = "ckks.rescale"(%1) : (!ckks.ciphertext<>) -> !ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>
      "scf.yield"(%z) : (!ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
    }, {
      %z2 = "ckks.neg"(%x) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
      %2 = "ckks.mul_scalar"(%z2) {scale = "2^40", value = 1.000000e+00 : f64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
      %3 = "ckks.rescale"(%2) : (!ckks.ciphertext<>) -> !ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>
      "scf.yield"(%3) : (!ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
    }) : (i1) -> !ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>
    %4 = "ckks.mul_scalar"(%x) {scale = "2^40", value = 1.000000e+00 : f64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %5 = "ckks.rescale"(%4) : (!ckks.ciphertext<>) -> !ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>
    %l = "scf.for"(%k0, %k4, %k1, %5) ({
    ^entry(%i: index, %v: !ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>):
      %6 = "ckks.square"(%y) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
      %7 = "ckks.relinearize"(%6) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
      %q = "ckks.rescale"(%7) : (!ckks.ciphertext<>) -> !ckks.ciphertext<scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6]>
      %t = "ckks.add"(%v, %q) : (!ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6]>) -> !ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>
      "scf.yield"(%t) : (!ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
    }) : (index, index, index, !ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>
    %u = "ckks.add"(%r, %l) : (!ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>
    "func.return"(%u) : (!ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
  }) {
    function_type = (i1, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
