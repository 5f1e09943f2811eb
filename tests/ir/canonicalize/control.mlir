// Constant bounds and conditions leave the branch that is taken, inside a loop too; a loop without a turn gives what it carries.
// run: infer-state,canonicalize,dve
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%c: i1, %x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %k0 = "arith.constant"() {value = 0 : index} : () -> index
    %k2 = "arith.constant"() {value = 2 : index} : () -> index
    %k3 = "arith.constant"() {value = 3 : index} : () -> index
    %s = "arith.addi"(%k2, %k3) : (index, index) -> index
    %t = "arith.muli"(%s, %k0) : (index, index) -> index
    %f = "arith.cmpi"(%s, %k3) {predicate = 2 : i64} : (index, index) -> i1
    %n = "scf.for"(%k0, %t, %k2, %x) ({
    ^b(%i: index, %v: !ckks.ciphertext<>):
      %z = "ckks.neg"(%v) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
      "scf.yield"(%z) : (!ckks.ciphertext<>) -> ()
    }) : (index, index, index, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %r = "scf.for"(%k0, %s, %k2, %n) ({
    ^b(%i: index, %v: !ckks.ciphertext<>):
      %q = "scf.if"(%f) ({
        %z = "ckks.neg"(%v) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
        "scf.yield"(%z) : (!ckks.ciphertext<>) -> ()
      }, {
        %z2 = "ckks.add"(%v, %v) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
        "scf.yield"(%z2) : (!ckks.ciphertext<>) -> ()
      }) : (i1) -> !ckks.ciphertext<>
      "scf.yield"(%q) : (!ckks.ciphertext<>) -> ()
    }) : (index, index, index, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    "func.return"(%r) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (i1, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%c: i1, %x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %k0 = "arith.constant"() {value = 0 : index} : () -> index
    %k2 = "arith.constant"() {value = 2 : index} : () -> index
    %s = "arith.constant"() {value = 5 : index} : () -> index
    %r = "scf.for"(%k0, %s, %k2, %x) ({
    ^entry(%i: index, %v: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
      %z2 = "ckks.add"(%v, %v) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
      "scf.yield"(%z2) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
    }) : (index, index, index, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    "func.return"(%r) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
  }) {
    function_type = (i1, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
