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
// ---
8:5: ssa: value %y is defined twice, first at 5:5
3:3: type: func.func: argument 0 has type !ckks.ciphertext<depth = 0>, but function_type's 0 has type !ckks.ciphertext<depth = 1>: they differ in depth
10:5: operands: func.return: operand count is 0, but function_type has 1
5:10: attribute: ckks.rotate: attribute step is missing (slots to the left; any integer)
6:10: ssa: ckks.add: operand 1, %w, is used before its definition
7:10: operands: ckks.mul: it has 2 operands, not 1
8:10: attribute: ckks.neg: it has no attribute speed
9:5: symbol-name: func.call: there is no function @absent
