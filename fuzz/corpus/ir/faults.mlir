// Everything that is wrong is told, each at its place.
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<depth = 0>):
    %y = "ckks.rotate"(%x) : (!ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 0>
    %z = "ckks.add"(%x, %w) : (!ckks.ciphertext<depth = 0>, !ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 0>
    %w = "ckks.mul"(%x) : (!ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 0>
    %y = "ckks.neg"(%x) {speed = 1 : i64} : (!ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 0>
    "func.call"() {callee = @absent} : () -> ()
    "func.return"() : () -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<depth = 1>) -> !ckks.ciphertext<depth = 0>} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
