func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = "stablehlo.while"(%x) ({ ^bb0(%a: tensor<3xf32>): %p = stablehlo.constant dense<false> : tensor<i1>
   stablehlo.return %p : tensor<i1> }, { ^bb0(%b: tensor<3xf32>): "stablehlo.return"(%b) : (tensor<3xf32>) -> () }) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
