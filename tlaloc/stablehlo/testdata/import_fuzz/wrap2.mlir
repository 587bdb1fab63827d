func.func @main() -> (tensor<ui32>, tensor<ui32>) {
  %c0 = stablehlo.constant dense<0> : tensor<ui32>
  %c1 = stablehlo.constant dense<1> : tensor<ui32>
  %m1 = stablehlo.subtract %c0, %c1 : tensor<ui32>
  %lim = stablehlo.constant dense<3> : tensor<ui32>
  %0:2 = stablehlo.while(%i = %m1, %v = %c0) : tensor<ui32>, tensor<ui32>
   cond {
    %p = stablehlo.compare LT, %i, %lim, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %c1 : tensor<ui32>
    %w = stablehlo.add %v, %c1 : tensor<ui32>
    stablehlo.return %j, %w : tensor<ui32>, tensor<ui32>
  }
  return %0#1, %m1 : tensor<ui32>, tensor<ui32>
}
