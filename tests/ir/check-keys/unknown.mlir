// Rotations of a value whose slots are not known.
// run: check-keys
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, domain = ntt, repr = standard>):
    %r = "ckks.rotate"(%x) {step = 1 : i64} : (!ckks.ciphertext<batch = [], components = 2, domain = ntt, repr = standard>) -> !ckks.ciphertext<>
    "func.return"(%r) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, domain = ntt, repr = standard>) -> (!ckks.ciphertext<>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
8:10: type: ckks.rotate: the slots of its operand are not known, so its keys are not either; write them into the type of the input
