func.func @main() -> tensor<i32> {
  %f = stablehlo.constant dense<9223372036854775807> : tensor<ui64>
  %l = stablehlo.constant dense<9223372036854775810> : tensor<ui64>
  %c1 = stablehlo.constant dense<1> : tensor<ui64>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %o = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %f, %v = %z) : tensor<ui64>, tensor<i32>
   cond {
    %p = stablehlo.compare LT, %i, %l, UNSIGNED : (tensor<ui64>, tensor<ui64>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %c1 : tensor<ui64>
    %w = stablehlo.add %v, %o : tensor<i32>
    stablehlo.return %j, %w : tensor<ui64>, tensor<i32>
  }
  return %0#1 : tensor<i32>
}
