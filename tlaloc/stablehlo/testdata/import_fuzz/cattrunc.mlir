func.func @main(%x: tensor<2xf32>) -> tensor<4xf32> {
  %0 = stablehlo.concatenate %x, %x, dim = 4294967296 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
