// Steps refer to slots; without them no key can be named.
// run: resolve-keys
// params: n14-d7-s40
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<>):
    %a = "ckks.rotate"(%x) {step = 1 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    "func.return"(%a) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<>) -> !ckks.ciphertext<>} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
7:10: type: ckks.rotate: the slots of its operand are not known, so its keys are not either; write them into the type of the input
