func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %y = stablehlo.add %x, %x : tensor<f32>
  check.expect_eq_const %y, dense<2.0> : tensor<f32>
  return %y : tensor<f32>
}
