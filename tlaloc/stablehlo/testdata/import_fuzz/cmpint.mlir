func.func @main() -> tensor<i32> {
  %s = stablehlo.constant dense<3> : tensor<i32>
  %big = stablehlo.constant dense<2147483647> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %l = stablehlo.add %big, %s : tensor<i32>
  %first = stablehlo.subtract %l, %s : tensor<i32>
  %f2 = stablehlo.subtract %first, %s : tensor<i32>
  %0:2 = stablehlo.while(%i = %f2, %v = %z) : tensor<i32>, tensor<i32>
   cond {
    %p = stablehlo.compare LT, %i, %l, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %w = stablehlo.add %v, %one : tensor<i32>
    stablehlo.return %j, %w : tensor<i32>, tensor<i32>
  }
  return %0#1 : tensor<i32>
}
