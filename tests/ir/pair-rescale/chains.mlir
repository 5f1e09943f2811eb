// A product, its relinearize and its rescale become one region, standing together; a relinearize that is read twice stays apart.
// run: infer-state,pair-rescale{always}
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %y: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %a = "ckks.mul"(%x, %y) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %b = "ckks.square"(%x) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %la = "ckks.relinearize"(%a) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %lb = "ckks.relinearize"(%b) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %n = "ckks.neg"(%y) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %ra = "ckks.rescale"(%la) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %rb = "ckks.rescale"(%lb) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %s = "ckks.add"(%ra, %rb) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %c = "ckks.mul"(%x, %n) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %lc = "ckks.relinearize"(%c) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %rc = "ckks.rescale"(%lc) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    "func.return"(%s, %rc, %lc) : (!ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %y: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>):
    %a = "ckks.mul"(%x, %y) {heliox.region = 0 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %la = "ckks.relinearize"(%a) {heliox.region = 0 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %ra = "ckks.rescale"(%la) {heliox.region = 0 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6]>
    %b = "ckks.square"(%x) {heliox.region = 1 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %lb = "ckks.relinearize"(%b) {heliox.region = 1 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %rb = "ckks.rescale"(%lb) {heliox.region = 1 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6]>
    %n = "ckks.neg"(%y) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %s = "ckks.add"(%ra, %rb) : (!ckks.ciphertext<scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6]>, !ckks.ciphertext<scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6]>) -> !ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>
    %c = "ckks.mul"(%x, %n) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %lc = "ckks.relinearize"(%c) : (!ckks.ciphertext<>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    %rc = "ckks.rescale"(%lc) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>
    "func.return"(%s, %rc, %lc) : (!ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> (!ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 1, scale = "2^80*q7^-1", primes = [0, 1, 2, 3, 4, 5, 6], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>),
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
