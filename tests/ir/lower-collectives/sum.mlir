// A sum of ciphertexts becomes a reduction with its addition.
// run: infer-state,shard{kind=terms,rank=1,size=3},lower-collectives,lower-collectives
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
    %world = "resource.ref"() {kind = "process-group", symbol = @world} : () -> !resource.handle<kind = "process-group">
    %r2 = "ckks.rotate"(%x) {step = 2 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %r3 = "ckks.rotate"(%x) {step = 3 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %0 = "ckks.add"(%r2, %r3) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %1 = "distributed.receive"(%world) {from = 0 : i64} : (!resource.handle<kind = "process-group">) -> !rns.tensor<dtype = u64, batch = [], components = 2, primes = [1, 4, 7], basis = Q, domain = ntt, repr = standard>
    %2 = "rns.select_limbs"(%0) {ids = [0, 3, 6]} : (!ckks.ciphertext<>) -> !rns.tensor<dtype = u64>
    "distributed.send"(%world, %2) {to = 0 : i64} : (!resource.handle<kind = "process-group">, !rns.tensor<dtype = u64>) -> ()
    %3 = "rns.select_limbs"(%0) {ids = [1, 4, 7]} : (!ckks.ciphertext<>) -> !rns.tensor<dtype = u64>
    %4 = "rns.select_limbs"(%0) {ids = [2, 5]} : (!ckks.ciphertext<>) -> !rns.tensor<dtype = u64>
    "distributed.send"(%world, %4) {to = 2 : i64} : (!resource.handle<kind = "process-group">, !rns.tensor<dtype = u64>) -> ()
    %5 = "rns.add"(%1, %3) : (!rns.tensor<dtype = u64, batch = [], components = 2, primes = [1, 4, 7], basis = Q, domain = ntt, repr = standard>, !rns.tensor<dtype = u64>) -> !rns.tensor<>
    %6 = "distributed.receive"(%world) {from = 2 : i64} : (!resource.handle<kind = "process-group">) -> !rns.tensor<dtype = u64, batch = [], components = 2, primes = [1, 4, 7], basis = Q, domain = ntt, repr = standard>
    %7 = "rns.add"(%5, %6) : (!rns.tensor<>, !rns.tensor<dtype = u64, batch = [], components = 2, primes = [1, 4, 7], basis = Q, domain = ntt, repr = standard>) -> !rns.tensor<>
    %8 = "distributed.broadcast"(%world) {root = 0 : i64} : (!resource.handle<kind = "process-group">) -> !rns.tensor<dtype = u64, batch = [], components = 2, primes = [0, 3, 6], basis = Q, domain = ntt, repr = standard>
    %9 = "distributed.broadcast"(%world, %7) {root = 1 : i64} : (!resource.handle<kind = "process-group">, !rns.tensor<>) -> !rns.tensor<>
    %10 = "distributed.broadcast"(%world) {root = 2 : i64} : (!resource.handle<kind = "process-group">) -> !rns.tensor<dtype = u64, batch = [], components = 2, primes = [2, 5], basis = Q, domain = ntt, repr = standard>
    %y = "rns.concat_limbs"(%8, %9, %10) : (!rns.tensor<dtype = u64, batch = [], components = 2, primes = [0, 3, 6], basis = Q, domain = ntt, repr = standard>, !rns.tensor<>, !rns.tensor<dtype = u64, batch = [], components = 2, primes = [2, 5], basis = Q, domain = ntt, repr = standard>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    "func.return"(%y) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
