func.func @main(%x: tensor<0xf32>) -> (tensor<f32>, tensor<i32>) {
 %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
 %zi = stablehlo.constant dense<0> : tensor<i32>
 %io = stablehlo.iota dim = 0 : tensor<0xi32>
 %0:2 = stablehlo.reduce(%x init: %z), (%io init: %zi) across dimensions = [0] : (tensor<0xf32>, tensor<0xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
  reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
   %1 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
   %2 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
   %3 = stablehlo.or %1, %2 : tensor<i1>
   %4 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
   %5 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
   %6 = stablehlo.and %4, %5 : tensor<i1>
   %7 = stablehlo.or %3, %6 : tensor<i1>
   %8 = stablehlo.select %3, %a, %b : tensor<i1>, tensor<f32>
   %9 = stablehlo.select %7, %i, %j : tensor<i1>, tensor<i32>
   stablehlo.return %8, %9 : tensor<f32>, tensor<i32>
  }
 return %0#0, %0#1 : tensor<f32>, tensor<i32>
}
