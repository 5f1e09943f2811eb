// Rotations of one value, which become one call with parts, and two chains that need nothing of each other.
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^30", primes = [0, 1], basis = Q, domain = ntt, repr = standard, slots = 2048>):
    %r1 = "ckks.rotate"(%x) {step = 1 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^30", primes = [0, 1], basis = Q, domain = ntt, repr = standard, slots = 2048>) -> !ckks.ciphertext<>
    %r2 = "ckks.rotate"(%x) {step = 2 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^30", primes = [0, 1], basis = Q, domain = ntt, repr = standard, slots = 2048>) -> !ckks.ciphertext<>
    %r3 = "ckks.rotate"(%x) {step = 3 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^30", primes = [0, 1], basis = Q, domain = ntt, repr = standard, slots = 2048>) -> !ckks.ciphertext<>
    %r4 = "ckks.rotate"(%x) {step = 4 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^30", primes = [0, 1], basis = Q, domain = ntt, repr = standard, slots = 2048>) -> !ckks.ciphertext<>
    %a = "ckks.add"(%r1, %r2) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %b = "ckks.sub"(%r3, %r4) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %c = "ckks.rotate"(%a) {step = 5 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %d = "ckks.rotate"(%b) {step = 6 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %e = "ckks.add"(%c, %d) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %f = "ckks.add"(%e, %r1) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    "func.return"(%f) : (!ckks.ciphertext<>) -> ()
  }) {
    sym_name = "main",
    function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^30", primes = [0, 1], basis = Q, domain = ntt, repr = standard, slots = 2048>) -> !ckks.ciphertext<>,
    arg_attrs = [{heliox.name = "x", heliox.role = "ciphertext"}],
    res_attrs = [{heliox.name = "result", heliox.role = "ciphertext"}]
  } : () -> ()
}) {heliox.version = 1 : i64, heliox.params = "n12-d1-s30"} : () -> ()
