// Long types that are used twice get aliases; short ones and single ones do not.
// print: aliases
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 8192>):
    %y = "ckks.neg"(%x) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    "func.return"(%x) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 8192>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 8192>} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
!t0 = !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 8192>
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !t0):
    %y = "ckks.neg"(%x) : (!t0) -> !ckks.ciphertext<>
    "func.return"(%x) : (!t0) -> ()
  }) {
    function_type = (!t0) -> !t0,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
