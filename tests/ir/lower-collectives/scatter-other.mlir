// A rank that owns rows receives them from the root.
// run: infer-state,lower-collectives
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %g = "resource.ref"() {kind = "process-group", symbol = @world} : () -> !resource.handle<kind = "process-group">
    %y = "distributed.scatter_limbs"(%g) {ids = [0, 1, 2, 3, 4, 5, 6, 7], owners = [0, 1, 2, 0, 1, 2, 0, 1], rank = 1 : i64, root = 0 : i64} : (!resource.handle<kind = "process-group">) -> !rns.tensor<dtype = u64, batch = [], components = 2, primes = [1, 4, 7], basis = Q, domain = ntt, repr = standard>
    "func.return"(%y) : (!rns.tensor<dtype = u64, batch = [], components = 2, primes = [1, 4, 7], basis = Q, domain = ntt, repr = standard>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!rns.tensor<dtype = u64, batch = [], components = 2, primes = [1, 4, 7], basis = Q, domain = ntt, repr = standard>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %g = "resource.ref"() {kind = "process-group", symbol = @world} : () -> !resource.handle<kind = "process-group">
    %y = "distributed.receive"(%g) {from = 0 : i64} : (!resource.handle<kind = "process-group">) -> !rns.tensor<dtype = u64, batch = [], components = 2, primes = [1, 4, 7], basis = Q, domain = ntt, repr = standard>
    "func.return"(%y) : (!rns.tensor<dtype = u64, batch = [], components = 2, primes = [1, 4, 7], basis = Q, domain = ntt, repr = standard>) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !rns.tensor<dtype = u64, batch = [], components = 2, primes = [1, 4, 7], basis = Q, domain = ntt, repr = standard>,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
