// The region of a reduction combines two values of one type, element by element, and sees nothing else.
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<>, %y: !ckks.ciphertext<>):
    %g = "resource.ref"() {symbol = @world, kind = "process-group"} : () -> !resource.handle<kind = "process-group">
    %b = "distributed.all_reduce"(%g, %x) ({
    ^body(%s: !ckks.ciphertext<>, %v: !ckks.ciphertext<>):
      %o = "ckks.add"(%s, %y) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
      %t = "ckks.rotate"(%v) {step = 1 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
      "distributed.yield"(%t) : (!ckks.ciphertext<>) -> ()
    }) : (!resource.handle<kind = "process-group">, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %c = "distributed.all_reduce"(%g, %x) ({
    ^body(%s: !ckks.ciphertext<>):
      "scf.yield"(%s) : (!ckks.ciphertext<>) -> ()
    }) : (!resource.handle<kind = "process-group">, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %d = "distributed.all_reduce"(%g, %x) : (!resource.handle<kind = "process-group">, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    "distributed.yield"(%d) : (!ckks.ciphertext<>) -> ()
    "func.return"(%b) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
8:27: ssa: value %y is not defined
9:12: operands: ckks.rotate: the region of distributed.all_reduce takes element-wise operations alone
12:10: operands: distributed.all_reduce: region 0 has to end in distributed.yield, not in scf.yield
12:10: operands: distributed.all_reduce: combined operand count is 2, but argument of the region count is 1
14:7: operands: scf.yield: the region of distributed.all_reduce takes element-wise operations alone
16:10: operands: distributed.all_reduce: it has 1 regions, not 0
17:5: operands: distributed.yield: it ends a block, but operations follow
