func.func @main(%x: tensor<2xf64>, %y: tensor<2xf64>) -> tensor<f32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<2xf64>, tensor<2xf64>) -> tensor<f32>
  return %0 : tensor<f32>
}
