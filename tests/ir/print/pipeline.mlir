// An unknown pass is refused before anything runs.
// run: dve,optimise
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<>):
    "func.return"(%x) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<>) -> !ckks.ciphertext<>} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
0:0: pass: pipeline: there is no pass 'optimise'; the passes are inline, infer-state, resolve-keys, dve, cse, lower
