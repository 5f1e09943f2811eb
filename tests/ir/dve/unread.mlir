// What nobody reads goes, with what only it read; random and endless things stay.
// run: dve
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<>, %c: i1):
    %p = "material.ref"() {symbol = @p} : () -> !ckks.plaintext<>
    %a = "ckks.mul_plain"(%x, %p) : (!ckks.ciphertext<>, !ckks.plaintext<>) -> !ckks.ciphertext<>
    %b = "ckks.neg"(%a) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
    %q = "material.ref"() {symbol = @q} : () -> !ckks.plaintext<>
    %e = "ckks.encrypt"(%q) : (!ckks.plaintext<>) -> !ckks.ciphertext<>
    %f = "scf.if"(%c) ({
      %g = "ckks.neg"(%b) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
      "scf.yield"(%g) : (!ckks.ciphertext<>) -> ()
    }, {
      "scf.yield"(%b) : (!ckks.ciphertext<>) -> ()
    }) : (i1) -> !ckks.ciphertext<>
    "scf.if"(%c) ({
      %h = "ckks.neg"(%x) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
      %i = "ckks.encrypt"(%q) : (!ckks.plaintext<>) -> !ckks.ciphertext<>
      "scf.yield"() : () -> ()
    }, {
    }) : (i1) -> ()
    "scf.while"() ({
      "scf.condition"(%c) : (i1) -> ()
    }, {
      "scf.yield"() : () -> ()
    }) : () -> ()
    "func.return"(%x) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<>, i1) -> !ckks.ciphertext<>} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<>, %c: i1):
    %q = "material.ref"() {symbol = @q} : () -> !ckks.plaintext<>
    %e = "ckks.encrypt"(%q) : (!ckks.plaintext<>) -> !ckks.ciphertext<>
    "scf.if"(%c) ({
      %i = "ckks.encrypt"(%q) : (!ckks.plaintext<>) -> !ckks.ciphertext<>
      "scf.yield"() : () -> ()
    }, {
    }) : (i1) -> ()
    "scf.while"() ({
      "scf.condition"(%c) : (i1) -> ()
    }, {
      "scf.yield"() : () -> ()
    }) : () -> ()
    "func.return"(%x) : (!ckks.ciphertext<>) -> ()
  }) {
    function_type = (!ckks.ciphertext<>, i1) -> !ckks.ciphertext<>,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
