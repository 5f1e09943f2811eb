// only=main leaves @main alone, public functions go too.
// run: inline{only=main}
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%a: !ckks.ciphertext<>):
    %r = "ckks.neg"(%a) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    "func.return"(%r) : (!ckks.ciphertext<>) -> ()
  }) {function_type = (!ckks.ciphertext<>) -> !ckks.ciphertext<>, sym_name = "negate", sym_visibility = "private"} : () -> ()
  "func.func"() ({
  ^entry(%a: !ckks.ciphertext<>, %b: !ckks.ciphertext<>):
    %n = "func.call"(%b) {callee = @negate} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %s = "ckks.add"(%a, %n) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    "func.return"(%s, %a) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> ()
  }) {function_type = (!ckks.ciphertext<>, !ckks.ciphertext<>) -> (!ckks.ciphertext<>, !ckks.ciphertext<>), sym_name = "both"} : () -> ()
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<components = 2>, %n: index):
    %zero = "arith.constant"() {value = 0 : index} : () -> index
    %one = "arith.constant"() {value = 1 : index} : () -> index
    %y:2 = "func.call"(%x, %x) {callee = @both} : (!ckks.ciphertext<components = 2>, !ckks.ciphertext<components = 2>) -> (!ckks.ciphertext<depth = 1>, !ckks.ciphertext<>)
    %l = "scf.for"(%zero, %n, %one, %y#0) ({
    ^entry(%i: index, %c: !ckks.ciphertext<>):
      %m = "func.call"(%c) {callee = @negate} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
      "scf.yield"(%m) : (!ckks.ciphertext<>) -> ()
    }) : (index, index, index, !ckks.ciphertext<depth = 1>) -> !ckks.ciphertext<>
    "func.return"(%l, %y#1) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> ()
  }) {function_type = (!ckks.ciphertext<components = 2>, index) -> (!ckks.ciphertext<>, !ckks.ciphertext<>), sym_name = "main"} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<components = 2>, %n: index):
    %zero = "arith.constant"() {value = 0 : index} : () -> index
    %one = "arith.constant"() {value = 1 : index} : () -> index
    %r = "ckks.neg"(%x) : (!ckks.ciphertext<components = 2>) -> !ckks.ciphertext<>
    %s = "ckks.add"(%x, %r) : (!ckks.ciphertext<components = 2>, !ckks.ciphertext<>) -> !ckks.ciphertext<depth = 1>
    %l = "scf.for"(%zero, %n, %one, %s) ({
    ^entry(%i: index, %c: !ckks.ciphertext<>):
      %r_1 = "ckks.neg"(%c) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
      "scf.yield"(%r_1) : (!ckks.ciphertext<>) -> ()
    }) : (index, index, index, !ckks.ciphertext<depth = 1>) -> !ckks.ciphertext<>
    "func.return"(%l, %x) : (!ckks.ciphertext<>, !ckks.ciphertext<components = 2>) -> ()
  }) {
    function_type = (!ckks.ciphertext<components = 2>, index) -> (!ckks.ciphertext<>, !ckks.ciphertext<components = 2>),
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
