// A transform of its inverse is the value; a second transform of one value is the first; sums of transforms are transformed once, inside a branch too.
// run: infer-state,reuse-transforms,dve
// params: n14-d7-s40
// print: short
"builtin.module"() ({
  "func.func"() ({
  ^entry(%c: i1, %a: !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = coefficient, repr = standard>, %b: !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = coefficient, repr = standard>):
    %fa = "ntt.forward"(%a) : (!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = coefficient, repr = standard>) -> !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>
    %ia = "ntt.inverse"(%fa) : (!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>) -> !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = coefficient, repr = standard>
    %s = "rns.add"(%ia, %b) : (!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = coefficient, repr = standard>, !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = coefficient, repr = standard>) -> !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = coefficient, repr = standard>
    %f1 = "ntt.forward"(%s) : (!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = coefficient, repr = standard>) -> !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>
    %f2 = "ntt.forward"(%b) : (!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = coefficient, repr = standard>) -> !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>
    %d = "rns.sub"(%f1, %f2) : (!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>, !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>) -> !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>
    %r = "scf.if"(%c) ({
      %g = "ntt.forward"(%a) : (!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = coefficient, repr = standard>) -> !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>
      %h = "rns.mul"(%g, %d) : (!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>, !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>) -> !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>
      "scf.yield"(%h) : (!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>) -> ()
    }, {
      %u = "ntt.forward"(%s) : (!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = coefficient, repr = standard>) -> !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>
      %v = "ntt.forward"(%a) : (!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = coefficient, repr = standard>) -> !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>
      %t = "rns.mul"(%u, %v) : (!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>, !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>) -> !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>
      "scf.yield"(%t) : (!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>) -> ()
    }) : (i1) -> !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>
    "func.return"(%r) : (!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>) -> ()
  }) {sym_name = "main", function_type = (i1, !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = coefficient, repr = standard>, !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = coefficient, repr = standard>) -> (!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>)} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%c: i1, %a: !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = coefficient, repr = standard>, %b: !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = coefficient, repr = standard>):
    %fa = "ntt.forward"(%a) : (!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = coefficient, repr = standard>) -> !rns.tensor<>
    %s = "rns.add"(%a, %b) : (!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = coefficient, repr = standard>, !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = coefficient, repr = standard>) -> !rns.tensor<>
    %f1 = "ntt.forward"(%s) : (!rns.tensor<>) -> !rns.tensor<>
    %0 = "rns.sub"(%s, %b) : (!rns.tensor<>, !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = coefficient, repr = standard>) -> !rns.tensor<>
    %d = "ntt.forward"(%0) : (!rns.tensor<>) -> !rns.tensor<>
    %r = "scf.if"(%c) ({
      %h = "rns.mul"(%fa, %d) : (!rns.tensor<>, !rns.tensor<>) -> !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>
      "scf.yield"(%h) : (!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>) -> ()
    }, {
      %t = "rns.mul"(%f1, %fa) : (!rns.tensor<>, !rns.tensor<>) -> !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>
      "scf.yield"(%t) : (!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>) -> ()
    }) : (i1) -> !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>
    "func.return"(%r) : (!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>) -> ()
  }) {
    function_type = (i1, !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = coefficient, repr = standard>, !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = coefficient, repr = standard>) -> !rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = standard>,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
