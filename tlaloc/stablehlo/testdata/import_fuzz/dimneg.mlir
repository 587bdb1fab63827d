func.func @main(%x: tensor<?x4xf32>) -> tensor<?x?xf32> {
  %s = stablehlo.constant dense<[-1, 4]> : tensor<2xi32>
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
