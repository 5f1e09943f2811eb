!x = !ckks.ciphertext<batch = [3], components = 2, depth = 0, scale = "2^20", domain = ntt, repr = standard, slots = 4>
!w = !ckks.plaintext<batch = [], depth = 0, scale = "2^20", basis = QP, domain = ntt, repr = standard, slots = 4>
"func.func"() ({
^entry(%x: !x, %w: !w):
  %a = "ckks.rotate_weighted_sum"(%x, %w, %w) {steps = [1, 0]} : (!x, !w, !w) -> !ckks.ciphertext<>
  %b = "ckks.mul"(%x, %a) : (!x, !ckks.ciphertext<>) -> !ckks.ciphertext<>
  %c = "ckks.relinearize"(%b) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
  %d = "ckks.rescale"(%c) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
  %e = "ckks.sum"(%d) {axis = 0 : i64} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
  %f = "ckks.add_scalar"(%e) {value = [1.0, -0.5]} : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
  %g:2 = "ckks.rotate_many"(%f) {steps = [1, 3]} : (!ckks.ciphertext<>) -> (!ckks.ciphertext<>, !ckks.ciphertext<>)
  %h = "ckks.conjugate"(%g#1) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>
  %m = "ckks.from_ntt"(%x) : (!x) -> !ckks.ciphertext<>
  %i = "rns.extend_exact"(%m) {ids = [1, 2]} : (!ckks.ciphertext<>) -> !rns.tensor<>
  "func.return"(%h) : (!ckks.ciphertext<>) -> ()
}) {sym_name = "main", function_type = (!x, !w) -> !ckks.ciphertext<>} : () -> ()
