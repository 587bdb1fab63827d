func.func private @g(%x: tensor<?xf32>) -> tensor<f32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<f32>, tensor<f32>) {
  %a = call @g(%x) : (tensor<?xf32>) -> tensor<f32>
  %b = call @g(%y) : (tensor<?xf32>) -> tensor<f32>
  return %a, %b : tensor<f32>, tensor<f32>
}
