// A rank without a term of a rotate_sum adds zeros over Q and P.
// run: infer-state,shard{kind=terms,rank=0,size=8},resolve-keys
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x0: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %x1: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %x2: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %y = "ckks.rotate_sum"(%x0, %x1, %x2) {steps = [0, 4, 8]} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    "func.return"(%y) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x0: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %x1: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %x2: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %world = "resource.ref"() {kind = "process-group", symbol = @world} : () -> !resource.handle<kind = "process-group">
    %0 = "core.constant"() {ids = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], residues = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]} : () -> !rns.tensor<dtype = u64, basis = QP>
    %1 = "rns.pack_components"(%0, %0) : (!rns.tensor<dtype = u64, basis = QP>, !rns.tensor<dtype = u64, basis = QP>) -> !rns.tensor<>
    %2 = "rns.mul_scalar"(%x0) {residues = [586263035904, 1085127642037, 129490679603, 511575547564, 87496011439, 393352141825, 206172232073, 397070544302]} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !rns.tensor<dtype = u64>
    %3 = "rns.select_limbs"(%1) {ids = [0, 1, 2, 3, 4, 5, 6, 7]} : (!rns.tensor<>) -> !rns.tensor<basis = Q>
    %4 = "rns.add"(%3, %2) : (!rns.tensor<basis = Q>, !rns.tensor<dtype = u64>) -> !rns.tensor<>
    %5 = "rns.select_limbs"(%1) {ids = [8, 9]} : (!rns.tensor<>) -> !rns.tensor<basis = P>
    %6 = "rns.concat_limbs"(%4, %5) : (!rns.tensor<>, !rns.tensor<basis = P>) -> !rns.tensor<>
    %7 = "distributed.scatter_limbs"(%world, %6) {ids = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], owners = [0, 1, 2, 3, 4, 5, 6, 7, 7, 6], rank = 0 : i64, root = 0 : i64} : (!resource.handle<kind = "process-group">, !rns.tensor<>) -> !rns.tensor<basis = Q>
    %8 = "distributed.scatter_limbs"(%world) {ids = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], owners = [0, 1, 2, 3, 4, 5, 6, 7, 7, 6], rank = 0 : i64, root = 2 : i64} : (!resource.handle<kind = "process-group">) -> !rns.tensor<dtype = u64, batch = [], components = 2, primes = [0], basis = Q, domain = ntt, repr = standard>
    %9 = "rns.add"(%7, %8) : (!rns.tensor<basis = Q>, !rns.tensor<dtype = u64, batch = [], components = 2, primes = [0], basis = Q, domain = ntt, repr = standard>) -> !rns.tensor<>
    %10 = "distributed.scatter_limbs"(%world) {ids = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], owners = [0, 1, 2, 3, 4, 5, 6, 7, 7, 6], rank = 0 : i64, root = 6 : i64} : (!resource.handle<kind = "process-group">) -> !rns.tensor<dtype = u64, batch = [], components = 2, primes = [0], basis = Q, domain = ntt, repr = standard>
    %11 = "rns.add"(%9, %10) : (!rns.tensor<>, !rns.tensor<dtype = u64, batch = [], components = 2, primes = [0], basis = Q, domain = ntt, repr = standard>) -> !rns.tensor<>
    %12 = "distributed.gather_limbs"(%world, %11) {ids = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], owners = [0, 1, 2, 3, 4, 5, 6, 7, 7, 6], rank = 0 : i64} : (!resource.handle<kind = "process-group">, !rns.tensor<>) -> !rns.tensor<>
    %y = "rns.mod_down"(%12) {rounding = "nearest"} : (!rns.tensor<>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    "func.return"(%y) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
