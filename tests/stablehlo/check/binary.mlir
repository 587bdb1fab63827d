// Written by check_modules.py: what is expected is what StableHLO's reference interpreter computes, or, where it
// lacks an operation, what check_cases.py says.

func.func @add_f32() {
  %x = stablehlo.constant dense<[-7.5, 0.0, 2.0, 0x7FC00000]> : tensor<4xf32>
  %y = stablehlo.constant dense<[2.0, -0.0, 0.5, 1.0]> : tensor<4xf32>
  %r = stablehlo.add %x, %y : tensor<4xf32>
  check.expect_eq_const %r, dense<[-5.500000e+00, 0.000000e+00, 2.500000e+00, 0x7FC00000]> : tensor<4xf32>
  func.return
}

func.func @atan2_f32() {
  %x = stablehlo.constant dense<[-7.5, 0.0, 2.0, 0x7FC00000]> : tensor<4xf32>
  %y = stablehlo.constant dense<[2.0, -0.0, 0.5, 1.0]> : tensor<4xf32>
  %r = stablehlo.atan2 %x, %y : tensor<4xf32>
  %expected = stablehlo.constant dense<[-1.3101939, 3.14159274, 1.3258177, 0x7FC00000]> : tensor<4xf32>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-06 : f64} : (tensor<4xf32>, tensor<4xf32>) -> ()
  func.return
}

func.func @divide_f32() {
  %x = stablehlo.constant dense<[-7.5, 0.0, 2.0, 0x7FC00000]> : tensor<4xf32>
  %y = stablehlo.constant dense<[2.0, -0.0, 0.5, 1.0]> : tensor<4xf32>
  %r = stablehlo.divide %x, %y : tensor<4xf32>
  check.expect_eq_const %r, dense<[-3.750000e+00, 0x7FC00000, 4.000000e+00, 0x7FC00000]> : tensor<4xf32>
  func.return
}

func.func @maximum_f32() {
  %x = stablehlo.constant dense<[-7.5, 0.0, 2.0, 0x7FC00000]> : tensor<4xf32>
  %y = stablehlo.constant dense<[2.0, -0.0, 0.5, 1.0]> : tensor<4xf32>
  %r = stablehlo.maximum %x, %y : tensor<4xf32>
  check.expect_eq_const %r, dense<[2.000000e+00, 0.000000e+00, 2.000000e+00, 0x7FC00000]> : tensor<4xf32>
  func.return
}

func.func @minimum_f32() {
  %x = stablehlo.constant dense<[-7.5, 0.0, 2.0, 0x7FC00000]> : tensor<4xf32>
  %y = stablehlo.constant dense<[2.0, -0.0, 0.5, 1.0]> : tensor<4xf32>
  %r = stablehlo.minimum %x, %y : tensor<4xf32>
  check.expect_eq_const %r, dense<[-7.500000e+00, -0.000000e+00, 5.000000e-01, 0x7FC00000]> : tensor<4xf32>
  func.return
}

func.func @multiply_f32() {
  %x = stablehlo.constant dense<[-7.5, 0.0, 2.0, 0x7FC00000]> : tensor<4xf32>
  %y = stablehlo.constant dense<[2.0, -0.0, 0.5, 1.0]> : tensor<4xf32>
  %r = stablehlo.multiply %x, %y : tensor<4xf32>
  check.expect_eq_const %r, dense<[-1.500000e+01, -0.000000e+00, 1.000000e+00, 0x7FC00000]> : tensor<4xf32>
  func.return
}

func.func @power_f32() {
  %x = stablehlo.constant dense<[-7.5, 0.0, 2.0, 0x7FC00000]> : tensor<4xf32>
  %y = stablehlo.constant dense<[2.0, -0.0, 0.5, 1.0]> : tensor<4xf32>
  %r = stablehlo.power %x, %y : tensor<4xf32>
  %expected = stablehlo.constant dense<[5.625000e+01, 1.000000e+00, 1.41421354, 0x7FC00000]> : tensor<4xf32>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-06 : f64} : (tensor<4xf32>, tensor<4xf32>) -> ()
  func.return
}

func.func @remainder_f32() {
  %x = stablehlo.constant dense<[-7.5, 0.0, 2.0, 0x7FC00000]> : tensor<4xf32>
  %y = stablehlo.constant dense<[2.0, -0.0, 0.5, 1.0]> : tensor<4xf32>
  %r = stablehlo.remainder %x, %y : tensor<4xf32>
  check.expect_eq_const %r, dense<[-1.500000e+00, 0x7FC00000, 0.000000e+00, 0x7FC00000]> : tensor<4xf32>
  func.return
}

func.func @subtract_f32() {
  %x = stablehlo.constant dense<[-7.5, 0.0, 2.0, 0x7FC00000]> : tensor<4xf32>
  %y = stablehlo.constant dense<[2.0, -0.0, 0.5, 1.0]> : tensor<4xf32>
  %r = stablehlo.subtract %x, %y : tensor<4xf32>
  check.expect_eq_const %r, dense<[-9.500000e+00, 0.000000e+00, 1.500000e+00, 0x7FC00000]> : tensor<4xf32>
  func.return
}

func.func @add_i32() {
  %x = stablehlo.constant dense<[-7, 2147483647, 6, 0]> : tensor<4xi32>
  %y = stablehlo.constant dense<[2, 1, 3, 5]> : tensor<4xi32>
  %r = stablehlo.add %x, %y : tensor<4xi32>
  check.expect_eq_const %r, dense<[-5, -2147483648, 9, 5]> : tensor<4xi32>
  func.return
}

func.func @divide_i32() {
  %x = stablehlo.constant dense<[-7, 2147483647, 6, 0]> : tensor<4xi32>
  %y = stablehlo.constant dense<[2, 1, 3, 5]> : tensor<4xi32>
  %r = stablehlo.divide %x, %y : tensor<4xi32>
  check.expect_eq_const %r, dense<[-3, 2147483647, 2, 0]> : tensor<4xi32>
  func.return
}

func.func @maximum_i32() {
  %x = stablehlo.constant dense<[-7, 2147483647, 6, 0]> : tensor<4xi32>
  %y = stablehlo.constant dense<[2, 1, 3, 5]> : tensor<4xi32>
  %r = stablehlo.maximum %x, %y : tensor<4xi32>
  check.expect_eq_const %r, dense<[2, 2147483647, 6, 5]> : tensor<4xi32>
  func.return
}

func.func @minimum_i32() {
  %x = stablehlo.constant dense<[-7, 2147483647, 6, 0]> : tensor<4xi32>
  %y = stablehlo.constant dense<[2, 1, 3, 5]> : tensor<4xi32>
  %r = stablehlo.minimum %x, %y : tensor<4xi32>
  check.expect_eq_const %r, dense<[-7, 1, 3, 0]> : tensor<4xi32>
  func.return
}

func.func @multiply_i32() {
  %x = stablehlo.constant dense<[-7, 2147483647, 6, 0]> : tensor<4xi32>
  %y = stablehlo.constant dense<[2, 1, 3, 5]> : tensor<4xi32>
  %r = stablehlo.multiply %x, %y : tensor<4xi32>
  check.expect_eq_const %r, dense<[-14, 2147483647, 18, 0]> : tensor<4xi32>
  func.return
}

func.func @power_i32() {
  %x = stablehlo.constant dense<[-7, 2147483647, 6, 0]> : tensor<4xi32>
  %y = stablehlo.constant dense<[2, 1, 3, 5]> : tensor<4xi32>
  %r = stablehlo.power %x, %y : tensor<4xi32>
  check.expect_eq_const %r, dense<[49, 2147483647, 216, 0]> : tensor<4xi32>
  func.return
}

func.func @remainder_i32() {
  %x = stablehlo.constant dense<[-7, 2147483647, 6, 0]> : tensor<4xi32>
  %y = stablehlo.constant dense<[2, 1, 3, 5]> : tensor<4xi32>
  %r = stablehlo.remainder %x, %y : tensor<4xi32>
  check.expect_eq_const %r, dense<[-1, 0, 0, 0]> : tensor<4xi32>
  func.return
}

func.func @subtract_i32() {
  %x = stablehlo.constant dense<[-7, 2147483647, 6, 0]> : tensor<4xi32>
  %y = stablehlo.constant dense<[2, 1, 3, 5]> : tensor<4xi32>
  %r = stablehlo.subtract %x, %y : tensor<4xi32>
  check.expect_eq_const %r, dense<[-9, 2147483646, 3, -5]> : tensor<4xi32>
  func.return
}

func.func @and_i32() {
  %x = stablehlo.constant dense<[-7, 2147483647, 6, 0]> : tensor<4xi32>
  %y = stablehlo.constant dense<[2, 1, 3, 5]> : tensor<4xi32>
  %r = stablehlo.and %x, %y : tensor<4xi32>
  check.expect_eq_const %r, dense<[0, 1, 2, 0]> : tensor<4xi32>
  func.return
}

func.func @or_i32() {
  %x = stablehlo.constant dense<[-7, 2147483647, 6, 0]> : tensor<4xi32>
  %y = stablehlo.constant dense<[2, 1, 3, 5]> : tensor<4xi32>
  %r = stablehlo.or %x, %y : tensor<4xi32>
  check.expect_eq_const %r, dense<[-5, 2147483647, 7, 5]> : tensor<4xi32>
  func.return
}

func.func @xor_i32() {
  %x = stablehlo.constant dense<[-7, 2147483647, 6, 0]> : tensor<4xi32>
  %y = stablehlo.constant dense<[2, 1, 3, 5]> : tensor<4xi32>
  %r = stablehlo.xor %x, %y : tensor<4xi32>
  check.expect_eq_const %r, dense<[-5, 2147483646, 5, 5]> : tensor<4xi32>
  func.return
}

func.func @shift_left_i32() {
  %x = stablehlo.constant dense<[-7, 2147483647, 6, 0]> : tensor<4xi32>
  %y = stablehlo.constant dense<[2, 1, 3, 5]> : tensor<4xi32>
  %r = stablehlo.shift_left %x, %y : tensor<4xi32>
  check.expect_eq_const %r, dense<[-28, -2, 48, 0]> : tensor<4xi32>
  func.return
}

func.func @shift_right_arithmetic_i32() {
  %x = stablehlo.constant dense<[-7, 2147483647, 6, 0]> : tensor<4xi32>
  %y = stablehlo.constant dense<[2, 1, 3, 5]> : tensor<4xi32>
  %r = stablehlo.shift_right_arithmetic %x, %y : tensor<4xi32>
  check.expect_eq_const %r, dense<[-2, 1073741823, 0, 0]> : tensor<4xi32>
  func.return
}

func.func @shift_right_logical_i32() {
  %x = stablehlo.constant dense<[-7, 2147483647, 6, 0]> : tensor<4xi32>
  %y = stablehlo.constant dense<[2, 1, 3, 5]> : tensor<4xi32>
  %r = stablehlo.shift_right_logical %x, %y : tensor<4xi32>
  check.expect_eq_const %r, dense<[1073741822, 1073741823, 0, 0]> : tensor<4xi32>
  func.return
}

func.func @add_i1() {
  %x = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %y = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %r = stablehlo.add %x, %y : tensor<4xi1>
  check.expect_eq_const %r, dense<[false, true, true, true]> : tensor<4xi1>
  func.return
}

func.func @multiply_i1() {
  %x = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %y = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %r = stablehlo.multiply %x, %y : tensor<4xi1>
  check.expect_eq_const %r, dense<[false, false, false, true]> : tensor<4xi1>
  func.return
}

func.func @maximum_i1() {
  %x = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %y = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %r = stablehlo.maximum %x, %y : tensor<4xi1>
  check.expect_eq_const %r, dense<[false, true, true, true]> : tensor<4xi1>
  func.return
}

func.func @and_i1() {
  %x = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %y = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %r = stablehlo.and %x, %y : tensor<4xi1>
  check.expect_eq_const %r, dense<[false, false, false, true]> : tensor<4xi1>
  func.return
}

func.func @or_i1() {
  %x = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %y = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %r = stablehlo.or %x, %y : tensor<4xi1>
  check.expect_eq_const %r, dense<[false, true, true, true]> : tensor<4xi1>
  func.return
}

func.func @xor_i1() {
  %x = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %y = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %r = stablehlo.xor %x, %y : tensor<4xi1>
  check.expect_eq_const %r, dense<[false, true, true, false]> : tensor<4xi1>
  func.return
}

func.func @compare_EQ() {
  %x = stablehlo.constant dense<[1.0, 2.0, 0x7FC00000, -0.0]> : tensor<4xf32>
  %y = stablehlo.constant dense<[2.0, 2.0, 1.0, 0.0]> : tensor<4xf32>
  %r = stablehlo.compare EQ, %x, %y, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %r, dense<[false, true, false, true]> : tensor<4xi1>
  func.return
}

func.func @compare_NE() {
  %x = stablehlo.constant dense<[1.0, 2.0, 0x7FC00000, -0.0]> : tensor<4xf32>
  %y = stablehlo.constant dense<[2.0, 2.0, 1.0, 0.0]> : tensor<4xf32>
  %r = stablehlo.compare NE, %x, %y, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %r, dense<[true, false, true, false]> : tensor<4xi1>
  func.return
}

func.func @compare_LT() {
  %x = stablehlo.constant dense<[1.0, 2.0, 0x7FC00000, -0.0]> : tensor<4xf32>
  %y = stablehlo.constant dense<[2.0, 2.0, 1.0, 0.0]> : tensor<4xf32>
  %r = stablehlo.compare LT, %x, %y, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %r, dense<[true, false, false, false]> : tensor<4xi1>
  func.return
}

func.func @compare_LE() {
  %x = stablehlo.constant dense<[1.0, 2.0, 0x7FC00000, -0.0]> : tensor<4xf32>
  %y = stablehlo.constant dense<[2.0, 2.0, 1.0, 0.0]> : tensor<4xf32>
  %r = stablehlo.compare LE, %x, %y, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %r, dense<[true, true, false, true]> : tensor<4xi1>
  func.return
}

func.func @compare_GT() {
  %x = stablehlo.constant dense<[1.0, 2.0, 0x7FC00000, -0.0]> : tensor<4xf32>
  %y = stablehlo.constant dense<[2.0, 2.0, 1.0, 0.0]> : tensor<4xf32>
  %r = stablehlo.compare GT, %x, %y, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %r, dense<false> : tensor<4xi1>
  func.return
}

func.func @compare_GE() {
  %x = stablehlo.constant dense<[1.0, 2.0, 0x7FC00000, -0.0]> : tensor<4xf32>
  %y = stablehlo.constant dense<[2.0, 2.0, 1.0, 0.0]> : tensor<4xf32>
  %r = stablehlo.compare GE, %x, %y, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %r, dense<[false, true, false, true]> : tensor<4xi1>
  func.return
}

func.func @compare_unsigned() {
  %x = stablehlo.constant dense<[200, 3]> : tensor<2xui8>
  %y = stablehlo.constant dense<[100, 3]> : tensor<2xui8>
  %r = stablehlo.compare GT, %x, %y, UNSIGNED : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xi1>
  check.expect_eq_const %r, dense<[true, false]> : tensor<2xi1>
  func.return
}

func.func @compare_total_order() {
  %x = stablehlo.constant dense<[0x7FC00000, -0.0, 0xFFC00000]> : tensor<3xf32>
  %y = stablehlo.constant dense<[0x7F800000, 0.0, 0xFF800000]> : tensor<3xf32>
  %r = stablehlo.compare GT, %x, %y, TOTALORDER : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  check.expect_eq_const %r, dense<[true, false, false]> : tensor<3xi1>
  func.return
}

func.func @clamp() {
  %l = stablehlo.constant dense<-1.0> : tensor<f32>
  %x = stablehlo.constant dense<[-2.0, 0.5, 3.0]> : tensor<3xf32>
  %h = stablehlo.constant dense<1.0> : tensor<f32>
  %r = stablehlo.clamp %l, %x, %h : (tensor<f32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  check.expect_eq_const %r, dense<[-1.000000e+00, 5.000000e-01, 1.000000e+00]> : tensor<3xf32>
  func.return
}

func.func @select() {
  %p = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %y = stablehlo.constant dense<[4, 5, 6]> : tensor<3xi32>
  %r = stablehlo.select %p, %x, %y : tensor<3xi1>, tensor<3xi32>
  check.expect_eq_const %r, dense<[1, 5, 3]> : tensor<3xi32>
  func.return
}

func.func @select_by_scalar() {
  %p = stablehlo.constant dense<false> : tensor<i1>
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %y = stablehlo.constant dense<[4, 5, 6]> : tensor<3xi32>
  %r = stablehlo.select %p, %x, %y : tensor<i1>, tensor<3xi32>
  check.expect_eq_const %r, dense<[4, 5, 6]> : tensor<3xi32>
  func.return
}
