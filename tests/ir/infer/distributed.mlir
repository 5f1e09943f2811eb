// Values of a group keep their state; rows and items of all ranks make the whole.
// run: infer-state
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [3], components = 2, depth = 6, scale = "2^40", domain = ntt, slots = 4096>):
    %g = "resource.ref"() {symbol = @world, kind = "process-group"} : () -> !resource.handle<kind = "process-group">
    %r = "distributed.rank"(%g) : (!resource.handle<kind = "process-group">) -> i64
    %k = "distributed.group_size"(%g) : (!resource.handle<kind = "process-group">) -> i64
    %a = "distributed.broadcast"(%g, %x) {root = 0 : i64} : (!resource.handle<kind = "process-group">, !ckks.ciphertext<batch = [3], components = 2, depth = 6, scale = "2^40", domain = ntt, slots = 4096>) -> !ckks.ciphertext<>
    %b = "distributed.all_reduce"(%g, %a) ({
    ^body(%s: !ckks.ciphertext<>, %v: !ckks.ciphertext<>):
      %t = "ckks.add"(%s, %v) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
      "distributed.yield"(%t) : (!ckks.ciphertext<>) -> ()
    }) : (!resource.handle<kind = "process-group">, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %c = "distributed.all_reduce_add_ciphertext"(%g, %b) : (!resource.handle<kind = "process-group">, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %d = "distributed.scatter_limbs"(%g, %c) {root = 0 : i64, ids = [0, 1], owners = [0, 1], rank = 1 : i64} : (!resource.handle<kind = "process-group">, !ckks.ciphertext<>) -> !rns.tensor<>
    %e = "distributed.gather_limbs"(%g, %d) {ids = [0, 1], owners = [0, 1], rank = 1 : i64} : (!resource.handle<kind = "process-group">, !rns.tensor<>) -> !ckks.ciphertext<depth = 6, scale = "2^40", slots = 4096>
    %f = "distributed.all_gather"(%g, %e) {counts = [2, 3], rank = 1 : i64} : (!resource.handle<kind = "process-group">, !ckks.ciphertext<depth = 6, scale = "2^40", slots = 4096>) -> !ckks.ciphertext<>
    "distributed.send"(%g, %f) {to = 0 : i64} : (!resource.handle<kind = "process-group">, !ckks.ciphertext<>) -> ()
    %h = "distributed.receive"(%g) {from = 0 : i64} : (!resource.handle<kind = "process-group">) -> !ckks.ciphertext<depth = 6>
    "func.return"(%f, %h) : (!ckks.ciphertext<>, !ckks.ciphertext<depth = 6>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [3], components = 2, depth = 6, scale = "2^40", domain = ntt, slots = 4096>) -> (!ckks.ciphertext<>, !ckks.ciphertext<depth = 6>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [3], components = 2, depth = 6, scale = "2^40", primes = [0, 1], basis = Q, domain = ntt, slots = 4096>):
    %g = "resource.ref"() {kind = "process-group", symbol = @world} : () -> !resource.handle<kind = "process-group">
    %r = "distributed.rank"(%g) : (!resource.handle<kind = "process-group">) -> i64
    %k = "distributed.group_size"(%g) : (!resource.handle<kind = "process-group">) -> i64
    %a = "distributed.broadcast"(%g, %x) {root = 0 : i64} : (!resource.handle<kind = "process-group">, !ckks.ciphertext<batch = [3], components = 2, depth = 6, scale = "2^40", primes = [0, 1], basis = Q, domain = ntt, slots = 4096>) -> !ckks.ciphertext<>
    %b = "distributed.all_reduce"(%g, %a) ({
    ^entry(%s: !ckks.ciphertext<batch = [3], components = 2, depth = 6, scale = "2^40", primes = [0, 1], basis = Q, domain = ntt, slots = 4096>, %v: !ckks.ciphertext<batch = [3], components = 2, depth = 6, scale = "2^40", primes = [0, 1], basis = Q, domain = ntt, slots = 4096>):
      %t = "ckks.add"(%s, %v) : (!ckks.ciphertext<batch = [3], components = 2, depth = 6, scale = "2^40", primes = [0, 1], basis = Q, domain = ntt, slots = 4096>, !ckks.ciphertext<batch = [3], components = 2, depth = 6, scale = "2^40", primes = [0, 1], basis = Q, domain = ntt, slots = 4096>) -> !ckks.ciphertext<batch = [3], components = 2, depth = 6, scale = "2^40", primes = [0, 1], basis = Q, domain = ntt, repr = standard, slots = 4096>
      "distributed.yield"(%t) : (!ckks.ciphertext<batch = [3], components = 2, depth = 6, scale = "2^40", primes = [0, 1], basis = Q, domain = ntt, repr = standard, slots = 4096>) -> ()
    }) : (!resource.handle<kind = "process-group">, !ckks.ciphertext<>) -> !ckks.ciphertext<repr = standard>
    %c = "distributed.all_reduce_add_ciphertext"(%g, %b) : (!resource.handle<kind = "process-group">, !ckks.ciphertext<repr = standard>) -> !ckks.ciphertext<>
    %d = "distributed.scatter_limbs"(%g, %c) {ids = [0, 1], owners = [0, 1], rank = 1 : i64, root = 0 : i64} : (!resource.handle<kind = "process-group">, !ckks.ciphertext<>) -> !rns.tensor<dtype = u64>
    %e = "distributed.gather_limbs"(%g, %d) {ids = [0, 1], owners = [0, 1], rank = 1 : i64} : (!resource.handle<kind = "process-group">, !rns.tensor<dtype = u64>) -> !ckks.ciphertext<depth = 6, scale = "2^40", slots = 4096>
    %f = "distributed.all_gather"(%g, %e) {counts = [2, 3], rank = 1 : i64} : (!resource.handle<kind = "process-group">, !ckks.ciphertext<depth = 6, scale = "2^40", slots = 4096>) -> !ckks.ciphertext<batch = [5], components = 2, depth = 6, scale = "2^40", primes = [0, 1], basis = Q, domain = ntt, repr = standard, slots = 4096>
    "distributed.send"(%g, %f) {to = 0 : i64} : (!resource.handle<kind = "process-group">, !ckks.ciphertext<batch = [5], components = 2, depth = 6, scale = "2^40", primes = [0, 1], basis = Q, domain = ntt, repr = standard, slots = 4096>) -> ()
    %h = "distributed.receive"(%g) {from = 0 : i64} : (!resource.handle<kind = "process-group">) -> !ckks.ciphertext<depth = 6, primes = [0, 1], basis = Q>
    "func.return"(%f, %h) : (!ckks.ciphertext<batch = [5], components = 2, depth = 6, scale = "2^40", primes = [0, 1], basis = Q, domain = ntt, repr = standard, slots = 4096>, !ckks.ciphertext<depth = 6, primes = [0, 1], basis = Q>) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [3], components = 2, depth = 6, scale = "2^40", primes = [0, 1], basis = Q, domain = ntt, slots = 4096>) -> (!ckks.ciphertext<batch = [5], components = 2, depth = 6, scale = "2^40", primes = [0, 1], basis = Q, domain = ntt, repr = standard, slots = 4096>, !ckks.ciphertext<depth = 6, primes = [0, 1], basis = Q>),
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
