// What is not known is named, value by value.
// run: check-state
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<batch = [], components = 2, domain = ntt, repr = standard>):
    %a = "ckks.neg"(%x) : (!ckks.ciphertext<batch = [], components = 2, domain = ntt, repr = standard>) -> !ckks.ciphertext<>
    "func.return"(%a) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<batch = [], components = 2, domain = ntt, repr = standard>) -> (!ckks.ciphertext<>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
6:3: type: func.func: the state of argument 0, %x is not known: depth, scale, primes, slots
8:10: type: ckks.neg: the state of result 0, %a is not known: depth, scale, primes, slots
