// Written by check_modules.py: what is expected is what StableHLO's reference interpreter computes, or, where it
// lacks an operation, what check_cases.py says.

func.func @sort_LT() {
  %x = stablehlo.constant dense<[[3.0, -1.0, 2.0], [0.5, 7.0, 0.25]]> : tensor<2x3xf32>
  %r = "stablehlo.sort"(%x) <{dimension = 1, is_stable = true}> ({
   ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
   }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  check.expect_eq_const %r, dense<[[-1.000000e+00, 2.000000e+00, 3.000000e+00], [2.500000e-01, 5.000000e-01, 7.000000e+00]]> : tensor<2x3xf32>
  func.return
}

func.func @sort_GT() {
  %x = stablehlo.constant dense<[[3.0, -1.0, 2.0], [0.5, 7.0, 0.25]]> : tensor<2x3xf32>
  %r = "stablehlo.sort"(%x) <{dimension = 0, is_stable = true}> ({
   ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
   }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  check.expect_eq_const %r, dense<[[3.000000e+00, 7.000000e+00, 2.000000e+00], [5.000000e-01, -1.000000e+00, 2.500000e-01]]> : tensor<2x3xf32>
  func.return
}

func.func @sort_total_order() {
  %x = stablehlo.constant dense<[0.0, -0.0, 0x7FC00000, 0xFFC00000, 0x7F800000, 1.0]> : tensor<6xf32>
  %i = stablehlo.iota dim = 0 : tensor<6xi32>
  %o, %r = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
   ^bb0(%a: tensor<f32>, %b: tensor<f32>, %p: tensor<i32>, %q: tensor<i32>):
    %c = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
   }) : (tensor<6xf32>, tensor<6xi32>) -> (tensor<6xf32>, tensor<6xi32>)
  check.expect_eq_const %r, dense<[2, 4, 5, 0, 1, 3]> : tensor<6xi32>
  func.return
}

func.func @sort_pairs() {
  %k = stablehlo.constant dense<[3, 1, 3, 0]> : tensor<4xi32>
  %v = stablehlo.constant dense<[10, 20, 30, 40]> : tensor<4xi32>
  %o, %r = "stablehlo.sort"(%k, %v) <{dimension = 0 : i64, is_stable = true}> ({
   ^bb0(%a: tensor<i32>, %b: tensor<i32>, %p: tensor<i32>, %q: tensor<i32>):
    %c = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
   }) : (tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
  check.expect_eq_const %r, dense<[40, 20, 10, 30]> : tensor<4xi32>
  func.return
}
