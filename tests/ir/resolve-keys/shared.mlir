// One reference a symbol at the top, in order of first use; steps modulo the slots; step 0 needs none.
// run: infer-state,resolve-keys
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 8192>, %s: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 1024>):
    %a = "ckks.rotate"(%x) {step = -1 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 8192>) -> !ckks.ciphertext<>
    %b = "ckks.rotate"(%a) {step = 8191 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %c = "ckks.rotate"(%b) {step = 8192 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %d:3 = "ckks.rotate_many"(%c) {steps = [2, 0, 2]} : (!ckks.ciphertext<>) -> (!ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>)
    %e = "ckks.rotate_sum"(%d#0, %d#1, %d#2) {steps = [1, 2, -1]} : (!ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    %f = "ckks.conjugate"(%e) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %g = "ckks.square"(%f) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %h = "ckks.relinearize"(%g) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %t = "ckks.rotate"(%s) {step = -1 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 1024>) -> !ckks.ciphertext<>
    "func.return"(%h) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", domain = ntt, repr = standard, slots = 1024>) -> !ckks.ciphertext<>} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, %s: !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 1024>):
    %galois_19661 = "material.ref"() {symbol = @galois_19661} : () -> !ckks.key<kind = galois, element = 19661>
    %galois_25 = "material.ref"() {symbol = @galois_25} : () -> !ckks.key<kind = galois, element = 25>
    %galois_5 = "material.ref"() {symbol = @galois_5} : () -> !ckks.key<kind = galois, element = 5>
    %conj = "material.ref"() {symbol = @conj} : () -> !ckks.key<kind = conj>
    %relin = "material.ref"() {symbol = @relin} : () -> !ckks.key<kind = relin>
    %galois_31949 = "material.ref"() {symbol = @galois_31949} : () -> !ckks.key<kind = galois, element = 31949>
    %a = "ckks.rotate"(%x, %galois_19661) {step = -1 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.key<kind = galois, element = 19661>) -> !ckks.ciphertext<>
    %b = "ckks.rotate"(%a, %galois_19661) {step = 8191 : i64} : (!ckks.ciphertext<>, !ckks.key<kind = galois, element = 19661>) -> !ckks.ciphertext<>
    %c = "ckks.rotate"(%b) {step = 8192 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %d:3 = "ckks.rotate_many"(%c, %galois_25) {steps = [2, 0, 2]} : (!ckks.ciphertext<>, !ckks.key<kind = galois, element = 25>) -> (!ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>)
    %e = "ckks.rotate_sum"(%d#0, %d#1, %d#2, %galois_5, %galois_25, %galois_19661) {steps = [1, 2, -1]} : (!ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.key<kind = galois, element = 5>, !ckks.key<kind = galois, element = 25>, !ckks.key<kind = galois, element = 19661>) -> !ckks.ciphertext<>
    %f = "ckks.conjugate"(%e, %conj) : (!ckks.ciphertext<>, !ckks.key<kind = conj>) -> !ckks.ciphertext<>
    %g = "ckks.square"(%f) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %h = "ckks.relinearize"(%g, %relin) : (!ckks.ciphertext<>, !ckks.key<kind = relin>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>
    %t = "ckks.rotate"(%s, %galois_31949) {step = -1 : i64} : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 1024>, !ckks.key<kind = galois, element = 31949>) -> !ckks.ciphertext<>
    "func.return"(%h) : (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>) -> ()
  }) {
    function_type = (!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>, !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 1024>) -> !ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^80", primes = [0, 1, 2, 3, 4, 5, 6, 7], basis = Q, domain = ntt, repr = standard, slots = 8192>,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
