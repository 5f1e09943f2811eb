// A loop keeps the state of what it carries; its open arguments take it from the operands.
// run: infer-state
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>, %n: index):
    %r = "scf.for"(%n, %n, %n, %x) ({
    ^body(%i: index, %a: !rns.tensor<>):
      %b = "rns.mul"(%a, %x) : (!rns.tensor<>, !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>) -> !rns.tensor<>
      "scf.yield"(%b) : (!rns.tensor<>) -> ()
    }) : (index, index, index, !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>) -> !rns.tensor<>
    "func.return"(%r) : (!rns.tensor<>) -> ()
  }) {sym_name = "main", function_type = (!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>, index) -> !rns.tensor<>} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
