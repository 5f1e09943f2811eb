// Keys come from resolve-keys.
// run: infer-state,lower
// params: n14-d7-s40
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 5, scale = "2^40", domain = ntt, repr = standard, slots = 8192>):
    %r = "ckks.conjugate"(%x) : (!ckks.ciphertext<batch = [], components = 2, depth = 5, scale = "2^40", domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    "func.return"(%r) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 5, scale = "2^40", domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
7:10: missing-key: ckks.conjugate: its key operands are missing; run resolve-keys before lower
