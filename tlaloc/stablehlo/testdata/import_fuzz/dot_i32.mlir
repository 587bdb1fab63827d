func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<i32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<i32>
  return %0 : tensor<i32>
}
