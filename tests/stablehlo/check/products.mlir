// Written by check_modules.py: what is expected is what StableHLO's reference interpreter computes, or, where it
// lacks an operation, what check_cases.py says.

func.func @dot() {
  %a = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %b = stablehlo.constant dense<[[1.0, 0.0], [-1.0, 2.0], [0.5, 1.0]]> : tensor<3x2xf32>
  %r = stablehlo.dot %a, %b : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %r, dense<[[0.5, 7.0], [2.0, 16.0]]> : tensor<2x2xf32>
  func.return
}

func.func @dot_general() {
  %a = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %b = stablehlo.constant dense<[[1.0, 0.0], [-1.0, 2.0], [0.5, 1.0]]> : tensor<3x2xf32>
  %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST]
      : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %r, dense<[[5.000000e-01, 7.000000e+00], [2.000000e+00, 1.600000e+01]]> : tensor<2x2xf32>
  func.return
}

func.func @dot_general_batched() {
  %a = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %b = stablehlo.constant dense<[[1.0, 0.0], [-1.0, 2.0], [0.5, 1.0]]> : tensor<3x2xf32>
  %r = stablehlo.dot_general %a, %b, batching_dims = [1] x [0], contracting_dims = [0] x [1] : (tensor<2x3xf32>,
      tensor<3x2xf32>) -> tensor<3xf32>
  check.expect_eq_const %r, dense<[1.000000e+00, 8.000000e+00, 7.500000e+00]> : tensor<3xf32>
  func.return
}

func.func @dot_general_i8() {
  %a = stablehlo.constant dense<[100, -128]> : tensor<2xi8>
  %r = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : (tensor<2xi8>, tensor<2xi8>) -> tensor<i32>
  check.expect_eq_const %r, dense<26384> : tensor<i32>
  func.return
}

func.func @convolution() {
  %x = stablehlo.constant dense<[[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]], [[7.0], [8.0], [9.0]]]]> : tensor<1x3x3x1xf32>
  %k = stablehlo.constant dense<[[[[1.0]], [[2.0]]], [[[-1.0]], [[0.5]]]]> : tensor<2x2x1x1xf32>
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1],
      reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x3x3x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x1xf32>
  check.expect_eq_const %r, dense<[[[[3.500000e+00], [6.000000e+00]], [[1.100000e+01], [1.350000e+01]]]]> : tensor<1x2x2x1xf32>
  func.return
}

func.func @convolution_padded() {
  %x = stablehlo.constant dense<[[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]], [[7.0], [8.0], [9.0]]]]> : tensor<1x3x3x1xf32>
  %k = stablehlo.constant dense<[[[[1.0]], [[2.0]]], [[[-1.0]], [[0.5]]]]> : tensor<2x2x1x1xf32>
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [2, 1], pad = [[1, 1], [0, 1]], lhs_dilate = [1, 2], rhs_dilate = [2, 1],
      reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x3x3x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x1xf32>
  check.expect_eq_const %r, dense<[[[[4.000000e+00], [1.000000e+01], [5.000000e+00], [1.200000e+01], [6.000000e+00]], [[-4.000000e+00], [2.500000e+00], [-5.000000e+00], [3.000000e+00], [-6.000000e+00]]]]> : tensor<1x2x5x1xf32>
  func.return
}

func.func @cholesky() {
  %a = stablehlo.constant dense<[[4.0, 2.0], [2.0, 5.0]]> : tensor<2x2xf32>
  %c = stablehlo.cholesky %a, lower = true : tensor<2x2xf32>
  %m = stablehlo.constant dense<[[1.0, 0.0], [1.0, 1.0]]> : tensor<2x2xf32>
  %r = stablehlo.multiply %c, %m : tensor<2x2xf32>
  check.expect_eq_const %r, dense<[[2.0, 0.0], [1.0, 2.0]]> : tensor<2x2xf32>
  func.return
}

func.func @triangular_solve() {
  %a = stablehlo.constant dense<[[2.0, 0.0], [1.0, 4.0]]> : tensor<2x2xf32>
  %b = stablehlo.constant dense<[[2.0], [9.0]]> : tensor<2x1xf32>
  %r = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false,
      transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  check.expect_eq_const %r, dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  func.return
}
