func.func private @shape(%n: tensor<i32>) -> tensor<2xi32> {
  %a = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %c = stablehlo.constant dense<2> : tensor<1xi32>
  %r = stablehlo.concatenate %a, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}
func.func @main(%x: tensor<6xf32>) -> tensor<?x?xf32> {
  %n = stablehlo.constant dense<3> : tensor<i32>
  %s = call @shape(%n) : (tensor<i32>) -> tensor<2xi32>
  %y = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
