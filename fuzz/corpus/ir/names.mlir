// Text as mlir-opt prints it: numbered values, packs, locations, a label ^bb0.
#loc0 = loc("x.mlir":1:1)
"builtin.module"() ({
  "func.func"() ({
  ^bb0(%arg0: !ckks.ciphertext<depth = 0> loc("x.mlir":2:8), %arg1: i1 loc("x.mlir":2:9)):
    %0:2 = "ckks.rotate_many"(%arg0) {steps = [1, -2]} : (!ckks.ciphertext<depth = 0>) -> (!ckks.ciphertext<depth = 0>, !ckks.ciphertext<depth = 0>) loc(#loc1)
    %1 = "scf.if"(%arg1) ({
      "scf.yield"(%0#1) : (!ckks.ciphertext<depth = 0>) -> () loc(unknown)
    }, {
      "scf.yield"(%arg0) : (!ckks.ciphertext<depth = 0>) -> () loc(unknown)
    }) : (i1) -> !ckks.ciphertext<depth = 0> loc(callsite("a" at "b"))
    "func.return"(%1) : (!ckks.ciphertext<depth = 0>) -> () loc(unknown)
  }) {function_type = (!ckks.ciphertext<depth = 0>, i1) -> !ckks.ciphertext<depth = 0>, sym_name = "main"} : () -> () loc(unknown)
}) {heliox.version = 1 : i64} : () -> () loc(#loc0)
#loc1 = loc("x.mlir":3:1)
