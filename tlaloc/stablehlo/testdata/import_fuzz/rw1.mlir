func.func @main(%x: tensor<3xf32>, %z: tensor<f32>) -> tensor<3xf32> {
 %0 = "stablehlo.reduce_window"(%x, %z) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = stablehlo.add %a, %b : tensor<f32> stablehlo.return %c : tensor<f32> }) {window_dimensions = array<i64: 1>, window_dilations = array<i64: 0>} : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
 return %0 : tensor<3xf32>
}
