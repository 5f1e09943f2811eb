// A key switch over four ranks: one gather of the polynomial that is raised, one of the rows of P.
// run: infer-state,resolve-keys,lower,cse,shard{kind=limbs,rank=3,size=4}
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %y = "ckks.rotate"(%x) {step = 1 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    "func.return"(%y) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %0 = "rns.select_limbs"(%x) {ids = [3, 7]} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !rns.tensor<dtype = u64>
    %world = "resource.ref"() {kind = "process-group", symbol = @world} : () -> !resource.handle<kind = "process-group">
    %galois_5 = "material.ref"() {symbol = @galois_5} : () -> !ckks.key<kind = galois, element = 5>
    %1 = "rns.select_components"(%0) {count = 1 : i64, first = 1 : i64} : (!rns.tensor<dtype = u64>) -> !rns.tensor<>
    %2 = "ntt.inverse"(%1) : (!rns.tensor<>) -> !rns.tensor<>
    %3 = "distributed.gather_limbs"(%world, %2) {ids = [0, 1, 2, 3, 4, 5, 6, 7], owners = [0, 1, 2, 3, 0, 1, 2, 3], rank = 3 : i64} : (!resource.handle<kind = "process-group">, !rns.tensor<>) -> !rns.tensor<>
    %4 = "rns.select_limbs"(%3) {ids = [0, 1]} : (!rns.tensor<>) -> !rns.tensor<>
    %5 = "rns.select_limbs"(%3) {ids = [0]} : (!rns.tensor<>) -> !rns.tensor<>
    %6 = "rns.mul_scalar"(%5) {residues = [0]} : (!rns.tensor<>) -> !rns.tensor<>
    %7 = "rns.center_lift"(%6) {ids = [3, 7, 8]} : (!rns.tensor<>) -> !rns.tensor<dtype = u64, basis = QP>
    %8 = "rns.concat_limbs"(%4, %7) : (!rns.tensor<>, !rns.tensor<dtype = u64, basis = QP>) -> !rns.tensor<>
    %9 = "rns.mod_down"(%8) {drop = [0, 1], rounding = "nearest"} : (!rns.tensor<>) -> !rns.tensor<basis = QP>
    %10 = "rns.mul_scalar"(%9) {residues = [182678944402, 749787514002, 2703912960672]} : (!rns.tensor<basis = QP>) -> !rns.tensor<>
    %11 = "ntt.forward"(%10) : (!rns.tensor<>) -> !rns.tensor<>
    %12 = "rns.select_limbs"(%3) {ids = [3]} : (!rns.tensor<>) -> !rns.tensor<>
    %13 = "rns.select_limbs"(%3) {ids = [2, 3]} : (!rns.tensor<>) -> !rns.tensor<>
    %14 = "rns.select_limbs"(%3) {ids = [2]} : (!rns.tensor<>) -> !rns.tensor<>
    %15 = "rns.mul_scalar"(%14) {residues = [0]} : (!rns.tensor<>) -> !rns.tensor<>
    %16 = "rns.center_lift"(%15) {ids = [7, 8]} : (!rns.tensor<>) -> !rns.tensor<dtype = u64, basis = QP>
    %17 = "rns.concat_limbs"(%13, %16) : (!rns.tensor<>, !rns.tensor<dtype = u64, basis = QP>) -> !rns.tensor<>
    %18 = "rns.mod_down"(%17) {drop = [2, 3], rounding = "nearest"} : (!rns.tensor<>) -> !rns.tensor<basis = QP>
    %19 = "rns.mul_scalar"(%18) {residues = [919120642040, 324458678549890]} : (!rns.tensor<basis = QP>) -> !rns.tensor<>
    %20 = "rns.concat_limbs"(%19, %12) : (!rns.tensor<>, !rns.tensor<>) -> !rns.tensor<>
    %21 = "ntt.forward"(%20) : (!rns.tensor<>) -> !rns.tensor<>
    %22 = "rns.select_limbs"(%3) {ids = [4, 5]} : (!rns.tensor<>) -> !rns.tensor<>
    %23 = "rns.select_limbs"(%3) {ids = [4]} : (!rns.tensor<>) -> !rns.tensor<>
    %24 = "rns.mul_scalar"(%23) {residues = [0]} : (!rns.tensor<>) -> !rns.tensor<>
    %25 = "rns.center_lift"(%24) {ids = [3, 7, 8]} : (!rns.tensor<>) -> !rns.tensor<dtype = u64, basis = QP>
    %26 = "rns.concat_limbs"(%22, %25) : (!rns.tensor<>, !rns.tensor<dtype = u64, basis = QP>) -> !rns.tensor<>
    %27 = "rns.mod_down"(%26) {drop = [4, 5], rounding = "nearest"} : (!rns.tensor<>) -> !rns.tensor<basis = QP>
    %28 = "rns.mul_scalar"(%27) {residues = [954458308636, 868658020355, 310928383971138]} : (!rns.tensor<basis = QP>) -> !rns.tensor<>
    %29 = "ntt.forward"(%28) : (!rns.tensor<>) -> !rns.tensor<>
    %30 = "rns.select_limbs"(%3) {ids = [7]} : (!rns.tensor<>) -> !rns.tensor<>
    %31 = "rns.select_limbs"(%3) {ids = [6, 7]} : (!rns.tensor<>) -> !rns.tensor<>
    %32 = "rns.select_limbs"(%3) {ids = [6]} : (!rns.tensor<>) -> !rns.tensor<>
    %33 = "rns.mul_scalar"(%32) {residues = [0]} : (!rns.tensor<>) -> !rns.tensor<>
    %34 = "rns.center_lift"(%33) {ids = [3, 8]} : (!rns.tensor<>) -> !rns.tensor<dtype = u64, basis = QP>
    %35 = "rns.concat_limbs"(%31, %34) : (!rns.tensor<>, !rns.tensor<dtype = u64, basis = QP>) -> !rns.tensor<>
    %36 = "rns.mod_down"(%35) {drop = [6, 7], rounding = "nearest"} : (!rns.tensor<>) -> !rns.tensor<basis = QP>
    %37 = "rns.mul_scalar"(%36) {residues = [347867807751, 314928806296354]} : (!rns.tensor<basis = QP>) -> !rns.tensor<>
    %38 = "rns.concat_limbs"(%37, %30) : (!rns.tensor<>, !rns.tensor<>) -> !rns.tensor<>
    %39 = "ntt.forward"(%38) : (!rns.tensor<>) -> !rns.tensor<>
    %40 = "rns.select_components"(%0) {count = 1 : i64, first = 0 : i64} : (!rns.tensor<dtype = u64>) -> !rns.tensor<>
    %41 = "rns.key_slice"(%galois_5) {digit = 0 : i64, ids = [3, 7, 8]} : (!ckks.key<kind = galois, element = 5>) -> !rns.tensor<dtype = u64, basis = QP>
    %42 = "rns.mul"(%11, %41) : (!rns.tensor<>, !rns.tensor<dtype = u64, basis = QP>) -> !rns.tensor<>
    %43 = "rns.key_slice"(%galois_5) {digit = 1 : i64, ids = [3, 7, 8]} : (!ckks.key<kind = galois, element = 5>) -> !rns.tensor<dtype = u64, basis = QP>
    %44 = "rns.mul_add"(%42, %21, %43) : (!rns.tensor<>, !rns.tensor<>, !rns.tensor<dtype = u64, basis = QP>) -> !rns.tensor<>
    %45 = "rns.key_slice"(%galois_5) {digit = 2 : i64, ids = [3, 7, 8]} : (!ckks.key<kind = galois, element = 5>) -> !rns.tensor<dtype = u64, basis = QP>
    %46 = "rns.mul_add"(%44, %29, %45) : (!rns.tensor<>, !rns.tensor<>, !rns.tensor<dtype = u64, basis = QP>) -> !rns.tensor<>
    %47 = "rns.key_slice"(%galois_5) {digit = 3 : i64, ids = [3, 7, 8]} : (!ckks.key<kind = galois, element = 5>) -> !rns.tensor<dtype = u64, basis = QP>
    %48 = "rns.mul_add"(%46, %39, %47) : (!rns.tensor<>, !rns.tensor<>, !rns.tensor<dtype = u64, basis = QP>) -> !rns.tensor<>
    %49 = "ntt.inverse"(%48) : (!rns.tensor<>) -> !rns.tensor<>
    %50 = "rns.select_limbs"(%49) {ids = [8]} : (!rns.tensor<>) -> !rns.tensor<basis = P>
    %51 = "distributed.gather_limbs"(%world, %50) {ids = [8, 9], owners = [3, 2], rank = 3 : i64} : (!resource.handle<kind = "process-group">, !rns.tensor<basis = P>) -> !rns.tensor<>
    %52 = "rns.select_limbs"(%49) {ids = [3, 7]} : (!rns.tensor<>) -> !rns.tensor<basis = Q>
    %53 = "rns.concat_limbs"(%52, %51) : (!rns.tensor<basis = Q>, !rns.tensor<>) -> !rns.tensor<>
    %54 = "rns.mod_down"(%53) {rounding = "nearest"} : (!rns.tensor<>) -> !rns.tensor<primes = [3, 7]>
    %55 = "ntt.forward"(%54) : (!rns.tensor<primes = [3, 7]>) -> !rns.tensor<>
    %56 = "rns.select_components"(%55) {count = 1 : i64, first = 0 : i64} : (!rns.tensor<>) -> !rns.tensor<>
    %57 = "rns.add"(%56, %40) : (!rns.tensor<>, !rns.tensor<>) -> !rns.tensor<>
    %58 = "rns.select_components"(%55) {count = 1 : i64, first = 1 : i64} : (!rns.tensor<>) -> !rns.tensor<>
    %59 = "rns.pack_components"(%57, %58) : (!rns.tensor<>, !rns.tensor<>) -> !rns.tensor<>
    %y = "rns.automorphism"(%59) {element = 5 : i64} : (!rns.tensor<>) -> !rns.tensor<>
    %y_1 = "distributed.gather_limbs"(%world, %y) {ids = [0, 1, 2, 3, 4, 5, 6, 7], owners = [0, 1, 2, 3, 0, 1, 2, 3], rank = 3 : i64} : (!resource.handle<kind = "process-group">, !rns.tensor<>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    "func.return"(%y_1) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
