func.func @main() -> (tensor<i32>, tensor<i32>) {
  %c = stablehlo.constant dense<300> : tensor<i32>
  %l8 = stablehlo.convert %c : (tensor<i32>) -> tensor<ui8>
  %lim = stablehlo.convert %l8 : (tensor<ui8>) -> tensor<i32>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c0, %v = %c0) : tensor<i32>, tensor<i32>
   cond {
    %p = stablehlo.compare LT, %i, %lim, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %c1 : tensor<i32>
    %w = stablehlo.add %v, %c1 : tensor<i32>
    stablehlo.return %j, %w : tensor<i32>, tensor<i32>
  }
  return %0#1, %lim : tensor<i32>, tensor<i32>
}
