// A rank without items adds zeros to the sum.
// run: infer-state,shard{kind=batch,rank=5,size=6}
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [5], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %y = "ckks.sum"(%x) {axis = 0 : i64} : (!ckks.ciphertext<batch = [5], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    "func.return"(%y) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [5], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [5], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %world = "resource.ref"() {kind = "process-group", symbol = @world} : () -> !resource.handle<kind = "process-group">
    %0 = "distributed.scatter_limbs"(%world) {ids = [0, 1, 2, 3, 4, 5, 6, 7], owners = [0, 1, 2, 3, 4, 5, 0, 1], rank = 5 : i64, root = 0 : i64} : (!resource.handle<kind = "process-group">) -> !rns.tensor<dtype = u64, batch = [], components = 2, primes = [5], basis = Q, domain = ntt, repr = standard>
    %1 = "distributed.scatter_limbs"(%world) {ids = [0, 1, 2, 3, 4, 5, 6, 7], owners = [0, 1, 2, 3, 4, 5, 0, 1], rank = 5 : i64, root = 1 : i64} : (!resource.handle<kind = "process-group">) -> !rns.tensor<dtype = u64, batch = [], components = 2, primes = [5], basis = Q, domain = ntt, repr = standard>
    %2 = "rns.add"(%0, %1) : (!rns.tensor<dtype = u64, batch = [], components = 2, primes = [5], basis = Q, domain = ntt, repr = standard>, !rns.tensor<dtype = u64, batch = [], components = 2, primes = [5], basis = Q, domain = ntt, repr = standard>) -> !rns.tensor<>
    %3 = "distributed.scatter_limbs"(%world) {ids = [0, 1, 2, 3, 4, 5, 6, 7], owners = [0, 1, 2, 3, 4, 5, 0, 1], rank = 5 : i64, root = 2 : i64} : (!resource.handle<kind = "process-group">) -> !rns.tensor<dtype = u64, batch = [], components = 2, primes = [5], basis = Q, domain = ntt, repr = standard>
    %4 = "rns.add"(%2, %3) : (!rns.tensor<>, !rns.tensor<dtype = u64, batch = [], components = 2, primes = [5], basis = Q, domain = ntt, repr = standard>) -> !rns.tensor<>
    %5 = "distributed.scatter_limbs"(%world) {ids = [0, 1, 2, 3, 4, 5, 6, 7], owners = [0, 1, 2, 3, 4, 5, 0, 1], rank = 5 : i64, root = 3 : i64} : (!resource.handle<kind = "process-group">) -> !rns.tensor<dtype = u64, batch = [], components = 2, primes = [5], basis = Q, domain = ntt, repr = standard>
    %6 = "rns.add"(%4, %5) : (!rns.tensor<>, !rns.tensor<dtype = u64, batch = [], components = 2, primes = [5], basis = Q, domain = ntt, repr = standard>) -> !rns.tensor<>
    %7 = "distributed.scatter_limbs"(%world) {ids = [0, 1, 2, 3, 4, 5, 6, 7], owners = [0, 1, 2, 3, 4, 5, 0, 1], rank = 5 : i64, root = 4 : i64} : (!resource.handle<kind = "process-group">) -> !rns.tensor<dtype = u64, batch = [], components = 2, primes = [5], basis = Q, domain = ntt, repr = standard>
    %8 = "rns.add"(%6, %7) : (!rns.tensor<>, !rns.tensor<dtype = u64, batch = [], components = 2, primes = [5], basis = Q, domain = ntt, repr = standard>) -> !rns.tensor<>
    %y = "distributed.gather_limbs"(%world, %8) {ids = [0, 1, 2, 3, 4, 5, 6, 7], owners = [0, 1, 2, 3, 4, 5, 0, 1], rank = 5 : i64} : (!resource.handle<kind = "process-group">, !rns.tensor<>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    "func.return"(%y) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [5], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
