// The root sends every other rank its rows.
// run: infer-state,lower-collectives
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %g = "resource.ref"() {kind = "process-group", symbol = @world} : () -> !resource.handle<kind = "process-group">
    %y = "distributed.scatter_limbs"(%g, %x) {ids = [0, 1, 2, 3, 4, 5, 6, 7], owners = [0, 1, 2, 0, 1, 2, 0, 1], rank = 0 : i64, root = 0 : i64} : (!resource.handle<kind = "process-group">, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !rns.tensor<>
    "func.return"(%y) : (!rns.tensor<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!rns.tensor<>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %g = "resource.ref"() {kind = "process-group", symbol = @world} : () -> !resource.handle<kind = "process-group">
    %y = "rns.select_limbs"(%x) {ids = [0, 3, 6]} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !rns.tensor<dtype = u64, batch = [], components = 2, primes = [0, 3, 6], basis = Q, domain = ntt, repr = standard>
    %0 = "rns.select_limbs"(%x) {ids = [1, 4, 7]} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !rns.tensor<dtype = u64>
    "distributed.send"(%g, %0) {to = 1 : i64} : (!resource.handle<kind = "process-group">, !rns.tensor<dtype = u64>) -> ()
    %1 = "rns.select_limbs"(%x) {ids = [2, 5]} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !rns.tensor<dtype = u64>
    "distributed.send"(%g, %1) {to = 2 : i64} : (!resource.handle<kind = "process-group">, !rns.tensor<dtype = u64>) -> ()
    "func.return"(%y) : (!rns.tensor<dtype = u64, batch = [], components = 2, primes = [0, 3, 6], basis = Q, domain = ntt, repr = standard>) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !rns.tensor<dtype = u64, batch = [], components = 2, primes = [0, 3, 6], basis = Q, domain = ntt, repr = standard>,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
