// References that the program has are used and go to the top; keys that an operation has stay.
// run: resolve-keys,resolve-keys
// params: n14-d7-s40
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<components = 3>):
    %a = "ckks.relinearize"(%x) : (!ckks.ciphertext<components = 3>) -> !ckks.ciphertext<>
    %k = "material.ref"() {symbol = @relin} : () -> !ckks.key<kind = relin>
    %b = "ckks.relinearize"(%x, %k) : (!ckks.ciphertext<components = 3>, !ckks.key<kind = relin>) -> !ckks.ciphertext<>
    %c = "ckks.add"(%a, %b) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    "func.return"(%c) : (!ckks.ciphertext<>) -> ()
  }) {sym_name = "main", function_type = (!ckks.ciphertext<components = 3>) -> !ckks.ciphertext<>} : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
// ---
"builtin.module"() ({
  "func.func"() ({
  ^entry(%x: !ckks.ciphertext<components = 3>):
    %k = "material.ref"() {symbol = @relin} : () -> !ckks.key<kind = relin>
    %a = "ckks.relinearize"(%x, %k) : (!ckks.ciphertext<components = 3>, !ckks.key<kind = relin>) -> !ckks.ciphertext<>
    %b = "ckks.relinearize"(%x, %k) : (!ckks.ciphertext<components = 3>, !ckks.key<kind = relin>) -> !ckks.ciphertext<>
    %c = "ckks.add"(%a, %b) : (!ckks.ciphertext<>, !ckks.ciphertext<>) -> !ckks.ciphertext<>
    "func.return"(%c) : (!ckks.ciphertext<>) -> ()
  }) {
    function_type = (!ckks.ciphertext<components = 3>) -> !ckks.ciphertext<>,
    sym_name = "main"
  } : () -> ()
}) {heliox.version = 1 : i64} : () -> ()
