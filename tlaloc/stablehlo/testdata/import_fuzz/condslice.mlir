func.func @main(%x: tensor<2xi32>) -> (tensor<i32>) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c0, %v = %x) : tensor<i32>, tensor<2xi32>
   cond {
    %k = stablehlo.slice %v [0:1] : (tensor<2xi32>) -> tensor<1xi32>
    %n = stablehlo.reshape %k : (tensor<1xi32>) -> tensor<i32>
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %c1 : tensor<i32>
    %w = stablehlo.add %v, %v : tensor<2xi32>
    stablehlo.return %j, %w : tensor<i32>, tensor<2xi32>
  }
  return %0#0 : tensor<i32>
}
