func.func @main(%p: tensor<i1>) -> tensor<f32> {
  %0 = "stablehlo.if"(%p) ({
    ^bb0(%a: tensor<f32>):
      stablehlo.return %a : tensor<f32>
  }, {
      %c = stablehlo.constant dense<1.0> : tensor<f32>
      stablehlo.return %c : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %0 : tensor<f32>
}
