// Rows over three ranks: the dropped row is gathered, the others stay where they are.
// run: infer-state,lower,shard{kind=limbs,rank=1,size=3}
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %r = "ckks.rescale"(%x) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %y = "ckks.mul_integer"(%r) {integer = 3 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    "func.return"(%y) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %0 = "rns.select_limbs"(%x) {ids = [1, 4, 7]} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !rns.tensor<dtype = u64>
    %world = "resource.ref"() {kind = "process-group", symbol = @world} : () -> !resource.handle<kind = "process-group">
    %1 = "ntt.inverse"(%0) : (!rns.tensor<dtype = u64>) -> !rns.tensor<>
    %2 = "rns.select_limbs"(%1) {ids = [7]} : (!rns.tensor<>) -> !rns.tensor<>
    %3 = "distributed.gather_limbs"(%world, %2) {ids = [7], owners = [1], rank = 1 : i64} : (!resource.handle<kind = "process-group">, !rns.tensor<>) -> !rns.tensor<>
    %4 = "rns.select_limbs"(%1) {ids = [1, 4]} : (!rns.tensor<>) -> !rns.tensor<>
    %5 = "rns.concat_limbs"(%4, %3) : (!rns.tensor<>, !rns.tensor<>) -> !rns.tensor<>
    %6 = "rns.rescale"(%5) {count = 1 : i64, rounding = "nearest"} : (!rns.tensor<>) -> !rns.tensor<>
    %r = "ntt.forward"(%6) : (!rns.tensor<>) -> !rns.tensor<>
    %y = "rns.mul_scalar"(%r) {residues = [3, 3]} : (!rns.tensor<>) -> !rns.tensor<>
    %y_1 = "distributed.gather_limbs"(%world, %y) {ids = [0, 1, 2, 3, 4, 5, 6], owners = [0, 1, 2, 0, 1, 2, 0], rank = 1 : i64} : (!resource.handle<kind = "process-group">, !rns.tensor<>) -> !ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^40*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>
    "func.return"(%y_1) : (!ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^40*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^40*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
