func.func @main(%x: tensor<1xf32>, %y: tensor<1xf32>) -> tensor<f32> {
  %0 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimension = [0], rhs_contracting_dimension = [0]>}> : (tensor<1xf32>, tensor<1xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
