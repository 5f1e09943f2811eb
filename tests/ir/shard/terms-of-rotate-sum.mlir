// Terms of one rotate_sum: the sums over Q and P are added, then every rank divides.
// run: infer-state,shard{kind=terms,rank=1,size=2},resolve-keys
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
    %0 = "material.ref"() {symbol = @galois_30177} : () -> !ckks.key<kind = galois, element = 30177>
    %world = "resource.ref"() {kind = "process-group", symbol = @world} : () -> !resource.handle<kind = "process-group">
    %1 = "rns.select_components"(%x2) {count = 1 : i64, first = 1 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !rns.tensor<dtype = u64>
    %2 = "ntt.inverse"(%1) : (!rns.tensor<dtype = u64>) -> !rns.tensor<>
    %3 = "rns.mod_up"(%2) {digit = 0 : i64} : (!rns.tensor<>) -> !rns.tensor<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>
    %4 = "ntt.forward"(%3) : (!rns.tensor<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>) -> !rns.tensor<>
    %5 = "rns.mod_up"(%2) {digit = 1 : i64} : (!rns.tensor<>) -> !rns.tensor<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>
    %6 = "ntt.forward"(%5) : (!rns.tensor<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>) -> !rns.tensor<>
    %7 = "rns.mod_up"(%2) {digit = 2 : i64} : (!rns.tensor<>) -> !rns.tensor<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>
    %8 = "ntt.forward"(%7) : (!rns.tensor<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>) -> !rns.tensor<>
    %9 = "rns.mod_up"(%2) {digit = 3 : i64} : (!rns.tensor<>) -> !rns.tensor<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>
    %10 = "ntt.forward"(%9) : (!rns.tensor<primes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]>) -> !rns.tensor<>
    %11 = "rns.key_product"(%4, %0) {digit = 0 : i64} : (!rns.tensor<>, !ckks.key<kind = galois, element = 30177>) -> !rns.tensor<>
    %12 = "rns.key_product"(%6, %0, %11) {digit = 1 : i64} : (!rns.tensor<>, !ckks.key<kind = galois, element = 30177>, !rns.tensor<>) -> !rns.tensor<>
    %13 = "rns.key_product"(%8, %0, %12) {digit = 2 : i64} : (!rns.tensor<>, !ckks.key<kind = galois, element = 30177>, !rns.tensor<>) -> !rns.tensor<>
    %14 = "rns.key_product"(%10, %0, %13) {digit = 3 : i64} : (!rns.tensor<>, !ckks.key<kind = galois, element = 30177>, !rns.tensor<>) -> !rns.tensor<>
    %15 = "rns.automorphism"(%14) {element = 30177 : i64} : (!rns.tensor<>) -> !rns.tensor<>
    %16 = "rns.select_components"(%x2) {count = 1 : i64, first = 0 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !rns.tensor<dtype = u64>
    %17 = "rns.automorphism"(%16) {element = 30177 : i64} : (!rns.tensor<dtype = u64>) -> !rns.tensor<>
    %18 = "rns.select_components"(%15) {count = 1 : i64, first = 0 : i64} : (!rns.tensor<>) -> !rns.tensor<>
    %19 = "rns.mul_scalar"(%17) {residues = [586263035904, 1085127642037, 129490679603, 511575547564, 87496011439, 393352141825, 206172232073, 397070544302]} : (!rns.tensor<>) -> !rns.tensor<>
    %20 = "rns.select_limbs"(%18) {ids = [0, 1, 2, 3, 4, 5, 6, 7]} : (!rns.tensor<>) -> !rns.tensor<basis = Q>
    %21 = "rns.add"(%20, %19) : (!rns.tensor<basis = Q>, !rns.tensor<>) -> !rns.tensor<>
    %22 = "rns.select_limbs"(%18) {ids = [8, 9]} : (!rns.tensor<>) -> !rns.tensor<basis = P>
    %23 = "rns.concat_limbs"(%21, %22) : (!rns.tensor<>, !rns.tensor<basis = P>) -> !rns.tensor<>
    %24 = "rns.select_components"(%15) {count = 1 : i64, first = 1 : i64} : (!rns.tensor<>) -> !rns.tensor<>
    %25 = "rns.pack_components"(%23, %24) : (!rns.tensor<>, !rns.tensor<>) -> !rns.tensor<>
    %26 = "distributed.all_reduce_add_ciphertext"(%world, %25) : (!resource.handle<kind = "process-group">, !rns.tensor<>) -> !rns.tensor<>
    %y = "rns.mod_down"(%26) {rounding = "nearest"} : (!rns.tensor<>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    "func.return"(%y) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
