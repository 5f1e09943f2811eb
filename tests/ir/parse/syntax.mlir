// The first syntax error ends the parse; its place is that of the token.
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 8192>):
    %y = "ckks.neg"(%x) {a = [1, } : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 8192>
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 8192>} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
5:34: syntax: expected an attribute value, found '}'
