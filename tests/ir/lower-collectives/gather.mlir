// Rows are broadcast by their owners and put together.
// run: infer-state,lower,shard{kind=limbs,rank=1,size=3},lower-collectives
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
    %3 = "distributed.broadcast"(%world, %2) {root = 1 : i64} : (!resource.handle<kind = "process-group">, !rns.tensor<>) -> !rns.tensor<>
    %4 = "rns.concat_limbs"(%3) : (!rns.tensor<>) -> !rns.tensor<>
    %5 = "rns.select_limbs"(%1) {ids = [1, 4]} : (!rns.tensor<>) -> !rns.tensor<>
    %6 = "rns.concat_limbs"(%5, %4) : (!rns.tensor<>, !rns.tensor<>) -> !rns.tensor<>
    %7 = "rns.rescale"(%6) {count = 1 : i64, rounding = "nearest"} : (!rns.tensor<>) -> !rns.tensor<>
    %r = "ntt.forward"(%7) : (!rns.tensor<>) -> !rns.tensor<>
    %y = "rns.mul_scalar"(%r) {residues = [3, 3]} : (!rns.tensor<>) -> !rns.tensor<>
    %8 = "distributed.broadcast"(%world) {root = 0 : i64} : (!resource.handle<kind = "process-group">) -> !rns.tensor<dtype = u64, batch = [], components = 2, primes = [0, 3, 6], basis = Q, domain = ntt, repr = standard>
    %9 = "distributed.broadcast"(%world, %y) {root = 1 : i64} : (!resource.handle<kind = "process-group">, !rns.tensor<>) -> !rns.tensor<>
    %10 = "distributed.broadcast"(%world) {root = 2 : i64} : (!resource.handle<kind = "process-group">) -> !rns.tensor<dtype = u64, batch = [], components = 2, primes = [2, 5], basis = Q, domain = ntt, repr = standard>
    %y_1 = "rns.concat_limbs"(%8, %9, %10) : (!rns.tensor<dtype = u64, batch = [], components = 2, primes = [0, 3, 6], basis = Q, domain = ntt, repr = standard>, !rns.tensor<>, !rns.tensor<dtype = u64, batch = [], components = 2, primes = [2, 5], basis = Q, domain = ntt, repr = standard>) -> !ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^40*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>
    "func.return"(%y_1) : (!ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^40*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^40*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
