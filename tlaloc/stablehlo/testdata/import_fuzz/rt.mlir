func.func @main(%x: tensor<3xf32>, %i: tensor<1xi32>) -> tensor<2xf32> {
  %w = stablehlo.constant dense<2> : tensor<1xi32>
  %o = stablehlo.constant dense<1> : tensor<1xi32>
  %l = stablehlo.add %i, %w : tensor<1xi32>
  %0 = stablehlo.real_dynamic_slice %x, %i, %l, %o : (tensor<3xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
