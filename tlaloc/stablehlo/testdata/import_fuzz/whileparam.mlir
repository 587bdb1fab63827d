func.func @main(%i: tensor<i32>) -> tensor<f32> {
 %0 = "stablehlo.case"(%i) ({ ^bb0(%a: tensor<f32>): stablehlo.return %a : tensor<f32> }) : (tensor<i32>) -> tensor<f32>
 return %0 : tensor<f32>
}
