// A real constant is one residue a row, added to the first component.
// run: infer-state,resolve-keys,lower
// params: n14-d7-s40
// print: aliases
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 5, scale = "2^40", domain = ntt, repr = standard, slots = 8192>):
    %r = "ckks.add_scalar"(%x) {value = 1.0 : f64} : (!ckks.ciphertext<batch = [], components = 2, depth = 5, scale = "2^40", domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    "func.return"(%r) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 5, scale = "2^40", domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
!t0 = !ckks.ciphertext<batch = [], components = 2, depth = 5, scale = "2^40", primes = [0, 1, 2], basis = Q, domain = ntt, repr = standard, slots = 8192>
!t1 = !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1, 2], basis = Q, domain = ntt, repr = standard>
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !t0):
    %0 = "rns.select_components"(%x) {count = 1 : i64, first = 0 : i64} : (!t0) -> !t1
    %1 = "rns.add_scalar"(%0) {residues = [1099511627776, 3932159, 1099511627776]} : (!t1) -> !t1
    %2 = "rns.select_components"(%x) {count = 1 : i64, first = 1 : i64} : (!t0) -> !t1
    %r = "rns.pack_components"(%1, %2) : (!t1, !t1) -> !t0
    "func.return"(%r) : (!t0) -> ()
  }) {
    function_type = (!t0) -> !t0,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
