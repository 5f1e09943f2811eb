// The sum over eight slots of x times weights, plus a bias, in HEIR's dialects and generic form: written by hand for tests of
// the import. N = 2^13, chain of four primes, scale 2^40.
!z0 = !mod_arith.int<281474976546817 : i64>
!z1 = !mod_arith.int<1099511922689 : i64>
!rns_l3 = !rns.rns<!z0, !z1, !z1, !z1>
!rns_l2 = !rns.rns<!z0, !z1, !z1>
#ring_l3 = #polynomial.ring<coefficientType = !rns_l3, polynomialModulus = <1 + x**8192>>
#ring_l2 = #polynomial.ring<coefficientType = !rns_l2, polynomialModulus = <1 + x**8192>>
#ring_f64 = #polynomial.ring<coefficientType = f64, polynomialModulus = <1 + x**8192>>
#key = #lwe.key<>
#encoding = #lwe.inverse_canonical_encoding<scaling_factor = 40>
#space = #lwe.plaintext_space<ring = #ring_f64, encoding = #encoding>
#chain_c3 = #lwe.modulus_chain<elements = <281474976546817 : i64, 1099511922689 : i64, 1099511431169 : i64, 1099511480321 : i64>, current = 3>
#chain_c2 = #lwe.modulus_chain<elements = <281474976546817 : i64, 1099511922689 : i64, 1099511431169 : i64, 1099511480321 : i64>, current = 2>
#ct_l3 = #lwe.ciphertext_space<ring = #ring_l3, encryption_type = mix>
#ct_l2 = #lwe.ciphertext_space<ring = #ring_l2, encryption_type = mix>
!pt = !lwe.lwe_plaintext<application_data = <message_type = f64>, plaintext_space = #space>
!ct3 = !lwe.lwe_ciphertext<application_data = <message_type = f64>, plaintext_space = #space, ciphertext_space = #ct_l3, key = #key, modulus_chain = #chain_c3>
!ct2 = !lwe.lwe_ciphertext<application_data = <message_type = f64>, plaintext_space = #space, ciphertext_space = #ct_l2, key = #key, modulus_chain = #chain_c2>
"builtin.module"() ({
  "func.func"() <{function_type = (!ct3) -> !ct2, sym_name = "dot"}> ({
  ^bb0(%arg0: !ct3):
    %cst = "arith.constant"() <{value = dense<[1.0, -0.5, 0.25, 2.0, 0.125, -1.5, 0.75, 1.25]> : tensor<8xf64>}> : () -> tensor<8xf64>
    %0 = "lwe.rlwe_encode"(%cst) <{encoding = #encoding, ring = #ring_f64}> : (tensor<8xf64>) -> !pt
    %1 = "ckks.mul_plain"(%arg0, %0) : (!ct3, !pt) -> !ct3
    %2 = "ckks.rescale"(%1) <{to_ring = #ring_l2}> : (!ct3) -> !ct2
    %3 = "ckks.rotate"(%2) <{offset = 4 : i64}> : (!ct2) -> !ct2
    %4 = "ckks.add"(%2, %3) : (!ct2, !ct2) -> !ct2
    %5 = "ckks.rotate"(%4) <{offset = 2 : i64}> : (!ct2) -> !ct2
    %6 = "ckks.add"(%4, %5) : (!ct2, !ct2) -> !ct2
    %7 = "ckks.rotate"(%6) {offset = 1 : i64} : (!ct2) -> !ct2
    %8 = "lwe.radd"(%6, %7) : (!ct2, !ct2) -> !ct2
    "func.return"(%8) : (!ct2) -> ()
  }) : () -> ()
}) : () -> ()
