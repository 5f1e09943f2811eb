// Written state that differs from the inferred one is a fault at that operation; the rest is still looked at.
// run: infer-state
// params: n14-d7-s40
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 8192>):
    %a = "ckks.rescale"(%x) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<depth = 3>
    %b = "ckks.neg"(%x) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<scale = "2^41">
    "func.return"(%a) : (!ckks.ciphertext<depth = 3>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<depth = 3>} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
7:10: type: ckks.rescale: result 0 has depth 1, but is written 3
8:10: type: ckks.neg: result 0 has scale "2^40", but is written "2^41"
