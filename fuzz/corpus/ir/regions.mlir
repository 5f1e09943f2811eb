// Equal operations merge: operands of sums in any order, inside regions those from outside, never from a region beside.
// run: cse
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<>, %y: !ckks.ciphertext<>, %c: i1):
    %a = "ckks.add"(%x, %y) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %b = "ckks.add"(%y, %x) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %d = "ckks.sub"(%x, %y) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %e = "ckks.sub"(%y, %x) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %f = "ckks.rotate"(%a) {step = 1 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %g = "ckks.rotate"(%b) {step = 1 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %h = "ckks.rotate"(%b) {step = 2 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %i = "ckks.rotate"(%b) {heliox.implementation = "slow", step = 1 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %r = "scf.if"(%c) ({
      %j = "ckks.add"(%x, %y) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
      %k = "ckks.neg"(%j) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
      "scf.yield"(%k) : (!ckks.ciphertext<>) -> ()
    }, {
      %l = "ckks.neg"(%a) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
      "scf.yield"(%l) : (!ckks.ciphertext<>) -> ()
    }) : (i1) -> !ckks.ciphertext<>
    %m = "ckks.neg"(%a) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %s:6 = "ckks.rotate_many"(%m) {steps = [1, 2, 3, 4, 5, 6]} : (!ckks.ciphertext<>) -> (!ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>)
    %t:6 = "ckks.rotate_many"(%m) {steps = [1, 2, 3, 4, 5, 6]} : (!ckks.ciphertext<>) -> (!ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>)
    %u = "ckks.add"(%s#1, %t#1) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %v = "ckks.weighted_sum"(%d, %e, %f, %g, %h, %i, %r, %u) {groups = 1 : i64} : (!ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    "func.return"(%v) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<>, !ckks.ciphertext<>, i1) -> !ckks.ciphertext<>} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
