func.func @main(%x: tensor<3xf32>, %z: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.reduce"(%x, %z) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %p = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %m = "stablehlo.if"(%p) ({ %q = stablehlo.add %a, %b : tensor<f32> 
         %q2 = stablehlo.add %q, %b : tensor<f32>
         stablehlo.return %q2 : tensor<f32> }, { stablehlo.return %b : tensor<f32> }) : (tensor<i1>) -> tensor<f32>
      stablehlo.return %m : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
