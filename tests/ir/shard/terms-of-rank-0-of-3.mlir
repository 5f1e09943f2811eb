// Four rotations over three ranks: rank 0 keeps a run of them and the keys of those alone.
// run: infer-state,shard{kind=terms,rank=0,size=3},resolve-keys
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %r1 = "ckks.rotate"(%x) {step = 1 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %r2 = "ckks.rotate"(%x) {step = 2 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %r3 = "ckks.rotate"(%x) {step = 3 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %r4 = "ckks.rotate"(%x) {step = 4 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %t0 = "ckks.add"(%r1, %r2) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %t1 = "ckks.add"(%t0, %r3) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %y = "ckks.add"(%t1, %r4) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    "func.return"(%y) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %galois_5 = "material.ref"() {symbol = @galois_5} : () -> !ckks.key<kind = galois, element = 5>
    %world = "resource.ref"() {kind = "process-group", symbol = @world} : () -> !resource.handle<kind = "process-group">
    %r1 = "ckks.rotate"(%x, %galois_5) {step = 1 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.key<kind = galois, element = 5>) -> !ckks.ciphertext<>
    %0 = "distributed.scatter_limbs"(%world, %r1) {ids = [0, 1, 2, 3, 4, 5, 6, 7], owners = [0, 1, 2, 0, 1, 2, 0, 1], rank = 0 : i64, root = 0 : i64} : (!resource.handle<kind = "process-group">, !ckks.ciphertext<>) -> !rns.tensor<dtype = u64>
    %1 = "distributed.scatter_limbs"(%world) {ids = [0, 1, 2, 3, 4, 5, 6, 7], owners = [0, 1, 2, 0, 1, 2, 0, 1], rank = 0 : i64, root = 1 : i64} : (!resource.handle<kind = "process-group">) -> !rns.tensor<dtype = u64, batch = [], components = 2, primes = [0, 3, 6], basis = Q, domain = ntt, repr = standard>
    %2 = "rns.add"(%0, %1) : (!rns.tensor<dtype = u64>, !rns.tensor<dtype = u64, batch = [], components = 2, primes = [0, 3, 6], basis = Q, domain = ntt, repr = standard>) -> !rns.tensor<>
    %3 = "distributed.scatter_limbs"(%world) {ids = [0, 1, 2, 3, 4, 5, 6, 7], owners = [0, 1, 2, 0, 1, 2, 0, 1], rank = 0 : i64, root = 2 : i64} : (!resource.handle<kind = "process-group">) -> !rns.tensor<dtype = u64, batch = [], components = 2, primes = [0, 3, 6], basis = Q, domain = ntt, repr = standard>
    %4 = "rns.add"(%2, %3) : (!rns.tensor<>, !rns.tensor<dtype = u64, batch = [], components = 2, primes = [0, 3, 6], basis = Q, domain = ntt, repr = standard>) -> !rns.tensor<>
    %y = "distributed.gather_limbs"(%world, %4) {ids = [0, 1, 2, 3, 4, 5, 6, 7], owners = [0, 1, 2, 0, 1, 2, 0, 1], rank = 0 : i64} : (!resource.handle<kind = "process-group">, !rns.tensor<>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    "func.return"(%y) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
