// x^2 - x y, relinearized and rescaled, with a negated term, in HEIR's dialects and generic form: written by hand for tests of
// the import.
#ring = #polynomial.ring<coefficientType = !rns.rns<!mod_arith.int<281474976546817 : i64>>, polynomialModulus = <1 + x**8192>>
#space = #lwe.plaintext_space<ring = #ring, encoding = #lwe.inverse_canonical_encoding<scaling_factor = 40>>
#chain = #lwe.modulus_chain<elements = <281474976546817 : i64, 1099511922689 : i64, 1099511431169 : i64, 1099511480321 : i64>, current = 3>
!ct = !lwe.lwe_ciphertext<application_data = <message_type = f64>, plaintext_space = #space, ciphertext_space = <ring = #ring, encryption_type = mix>, key = <>, modulus_chain = #chain>
!ct_wide = !lwe.lwe_ciphertext<application_data = <message_type = f64>, plaintext_space = #space, ciphertext_space = <ring = #ring, encryption_type = mix, size = 3>, key = <>, modulus_chain = #chain>
"builtin.module"() ({
^bb0:
  "func.func"() ({
  ^bb0(%x: !ct, %y: !ct):
    %0 = "ckks.mul"(%x, %x) : (!ct, !ct) -> !ct_wide
    %1 = "ckks.negate"(%y) : (!ct) -> !ct
    %2 = "ckks.mul"(%x, %1) : (!ct, !ct) -> !ct_wide
    %3 = "ckks.add"(%0, %2) : (!ct_wide, !ct_wide) -> !ct_wide
    %4 = "ckks.relinearize"(%3) {from_basis = array<i32: 0, 1, 2>, to_basis = array<i32: 0, 1>} : (!ct_wide) -> !ct
    %5 = "ckks.rescale"(%4) {to_ring = #ring} : (!ct) -> !ct
    "func.return"(%5) : (!ct) -> ()
  }) {function_type = (!ct, !ct) -> !ct, sym_name = "square"} : () -> ()
}) : () -> ()
