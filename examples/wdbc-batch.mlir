// wdbc.mlir on a batch: four ciphertexts of up to 256 samples each, one program run for all of them. Items of a batch
// are computed on their own, so they spread over ranks (--shard batch): two ranks take two each.
// Slot 256*j + i of item k holds number j of sample i of that item; @weights, depths, keys and the result's slots are
// those of wdbc.mlir, and every item's result has the bits that wdbc.mlir gives for it.
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [4], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %w = "material.ref"() {symbol = @weights} : () -> !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    %xw = "ckks.mul_plain"(%x, %w) : (!ckks.ciphertext<batch = [4], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.plaintext<batch = [], components = 1, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<depth = 0>
    %s0 = "ckks.rescale"(%xw) : (!ckks.ciphertext<depth = 0>) -> !ckks.ciphertext<depth = 1>
    // Sum over the 32 blocks: after each line twice as many blocks are in every slot.
    %r0 = "ckks.rotate"(%s0) {step = 4096 : i64} : (!ckks.ciphertext<depth = 1>) -> !ckks.ciphertext<depth = 1>
    %s1 = "ckks.add"(%s0, %r0) : (!ckks.ciphertext<depth = 1>, !ckks.ciphertext<depth = 1>) -> !ckks.ciphertext<depth = 1>
    %r1 = "ckks.rotate"(%s1) {step = 2048 : i64} : (!ckks.ciphertext<depth = 1>) -> !ckks.ciphertext<depth = 1>
    %s2 = "ckks.add"(%s1, %r1) : (!ckks.ciphertext<depth = 1>, !ckks.ciphertext<depth = 1>) -> !ckks.ciphertext<depth = 1>
    %r2 = "ckks.rotate"(%s2) {step = 1024 : i64} : (!ckks.ciphertext<depth = 1>) -> !ckks.ciphertext<depth = 1>
    %s3 = "ckks.add"(%s2, %r2) : (!ckks.ciphertext<depth = 1>, !ckks.ciphertext<depth = 1>) -> !ckks.ciphertext<depth = 1>
    %r3 = "ckks.rotate"(%s3) {step = 512 : i64} : (!ckks.ciphertext<depth = 1>) -> !ckks.ciphertext<depth = 1>
    %s4 = "ckks.add"(%s3, %r3) : (!ckks.ciphertext<depth = 1>, !ckks.ciphertext<depth = 1>) -> !ckks.ciphertext<depth = 1>
    %r4 = "ckks.rotate"(%s4) {step = 256 : i64} : (!ckks.ciphertext<depth = 1>) -> !ckks.ciphertext<depth = 1>
    %z = "ckks.add"(%s4, %r4) : (!ckks.ciphertext<depth = 1>, !ckks.ciphertext<depth = 1>) -> !ckks.ciphertext<depth = 1>
    // The odd polynomial of z.
    %z2t = "ckks.square"(%z) : (!ckks.ciphertext<depth = 1>) -> !ckks.ciphertext<components = 3, depth = 1>
    %z2p = "ckks.relinearize"(%z2t) : (!ckks.ciphertext<components = 3, depth = 1>) -> !ckks.ciphertext<depth = 1>
    %z2 = "ckks.rescale"(%z2p) : (!ckks.ciphertext<depth = 1>) -> !ckks.ciphertext<depth = 2>
    %cp = "ckks.mul_scalar"(%z2) {scale = "2^40", value = -1.593000e-03 : f64} : (!ckks.ciphertext<depth = 2>) -> !ckks.ciphertext<depth = 2>
    %c = "ckks.rescale"(%cp) : (!ckks.ciphertext<depth = 2>) -> !ckks.ciphertext<depth = 3>
    %u = "ckks.add_scalar"(%c) {value = 1.501200e-01 : f64} : (!ckks.ciphertext<depth = 3>) -> !ckks.ciphertext<depth = 3>
    %zd = "ckks.level_drop"(%z) {depth = 3 : i64} : (!ckks.ciphertext<depth = 1>) -> !ckks.ciphertext<depth = 3>
    %vt = "ckks.mul"(%u, %zd) : (!ckks.ciphertext<depth = 3>, !ckks.ciphertext<depth = 3>) -> !ckks.ciphertext<components = 3, depth = 3>
    %vp = "ckks.relinearize"(%vt) : (!ckks.ciphertext<components = 3, depth = 3>) -> !ckks.ciphertext<depth = 3>
    %v = "ckks.rescale"(%vp) : (!ckks.ciphertext<depth = 3>) -> !ckks.ciphertext<depth = 4>
    %score = "ckks.add_scalar"(%v) {value = 5.000000e-01 : f64} : (!ckks.ciphertext<depth = 4>) -> !ckks.ciphertext<depth = 4>
    "func.return"(%score) : (!ckks.ciphertext<depth = 4>) -> ()
  }) {
    sym_name = "main",
    function_type = (!ckks.ciphertext<batch = [4], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<depth = 4>,
    arg_attrs = [{heliox.name = "x", heliox.role = "ciphertext"}],
    res_attrs = [{heliox.name = "score", heliox.role = "ciphertext"}]
  } : () -> ()
}) {heliox.version = 1 : i64, heliox.params = "n14-d7-s40"} : () -> ()
