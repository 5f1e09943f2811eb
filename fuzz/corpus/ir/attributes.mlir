"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<depth = 0, scale = "2^40">, %i: i64, %c: i1):
    %a = "ckks.neg"(%x) {k = 18446744073709551615 : i64, u, l = [1, 2.5], f = @"a b", q = @abc, t = (i64) -> i1, d = {a = 1 : i32, heliox.b = "x\22\0A\\"}} : (!ckks.ciphertext<depth = 0, scale = "2^40">) -> !ckks.ciphertext<>
    %e = "scf.if"(%c) ({
      "scf.yield"(%i) : (i64) -> ()
     }, {
      "scf.yield"(%i) : (i64) -> ()
     }) : (i1) -> i64
     "scf.if"(%c) ({
      "scf.yield"() : () -> ()
     }, {
     }) : (i1) -> ()
    %p, %q = "ckks.two"() : () -> (i64, !ckks.ciphertext)
    "func.return"(%a) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<depth = 0, scale = "2^40">, i64, i1) -> !ckks.ciphertext<>} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
