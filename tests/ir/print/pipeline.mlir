// An unknown option is refused before anything runs.
// run: dve,lower{only=some}
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<>):
    "func.return"(%x) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<>) -> !ckks.ciphertext<>} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
0:0: pass: pipeline: pass lower has no option 'only=some'; it takes only=missing
