// Written by check_modules.py: what is expected is what StableHLO's reference interpreter computes, or, where it
// lacks an operation, what check_cases.py says.

func.func @abs() {
  %x = stablehlo.constant dense<[-2.5, -0.0, 0.5, 1.0, 0xFF800000]> : tensor<5xf32>
  %r = stablehlo.abs %x : tensor<5xf32>
  check.expect_eq_const %r, dense<[2.500000e+00, 0.000000e+00, 5.000000e-01, 1.000000e+00, 0x7F800000]> : tensor<5xf32>
  func.return
}

func.func @ceil() {
  %x = stablehlo.constant dense<[-2.5, -0.0, 0.5, 1.0, 0xFF800000]> : tensor<5xf32>
  %r = stablehlo.ceil %x : tensor<5xf32>
  check.expect_eq_const %r, dense<[-2.000000e+00, -0.000000e+00, 1.000000e+00, 1.000000e+00, 0xFF800000]> : tensor<5xf32>
  func.return
}

func.func @cosine() {
  %x = stablehlo.constant dense<[-2.5, -0.0, 0.5, 1.0, 0xFF800000]> : tensor<5xf32>
  %r = stablehlo.cosine %x : tensor<5xf32>
  %expected = stablehlo.constant dense<[-0.801143586, 1.000000e+00, 0.87758255, 0.540302277, 0xFFC00000]> : tensor<5xf32>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-06 : f64} : (tensor<5xf32>, tensor<5xf32>) -> ()
  func.return
}

func.func @exponential() {
  %x = stablehlo.constant dense<[-2.5, -0.0, 0.5, 1.0, 0xFF800000]> : tensor<5xf32>
  %r = stablehlo.exponential %x : tensor<5xf32>
  %expected = stablehlo.constant dense<[8.208500e-02, 1.000000e+00, 1.64872122, 2.71828175, 0.000000e+00]> : tensor<5xf32>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-06 : f64} : (tensor<5xf32>, tensor<5xf32>) -> ()
  func.return
}

func.func @exponential_minus_one() {
  %x = stablehlo.constant dense<[-2.5, -0.0, 0.5, 1.0, 0xFF800000]> : tensor<5xf32>
  %r = stablehlo.exponential_minus_one %x : tensor<5xf32>
  %expected = stablehlo.constant dense<[-0.917914986, -0.000000e+00, 0.648721277, 1.71828187, -1.000000e+00]> : tensor<5xf32>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-06 : f64} : (tensor<5xf32>, tensor<5xf32>) -> ()
  func.return
}

func.func @floor() {
  %x = stablehlo.constant dense<[-2.5, -0.0, 0.5, 1.0, 0xFF800000]> : tensor<5xf32>
  %r = stablehlo.floor %x : tensor<5xf32>
  check.expect_eq_const %r, dense<[-3.000000e+00, -0.000000e+00, 0.000000e+00, 1.000000e+00, 0xFF800000]> : tensor<5xf32>
  func.return
}

func.func @logistic() {
  %x = stablehlo.constant dense<[-2.5, -0.0, 0.5, 1.0, 0xFF800000]> : tensor<5xf32>
  %r = stablehlo.logistic %x : tensor<5xf32>
  %expected = stablehlo.constant dense<[0.0758581757, 5.000000e-01, 0.622459352, 0.731058597, 0.000000e+00]> : tensor<5xf32>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-06 : f64} : (tensor<5xf32>, tensor<5xf32>) -> ()
  func.return
}

func.func @negate() {
  %x = stablehlo.constant dense<[-2.5, -0.0, 0.5, 1.0, 0xFF800000]> : tensor<5xf32>
  %r = stablehlo.negate %x : tensor<5xf32>
  check.expect_eq_const %r, dense<[2.500000e+00, 0.000000e+00, -5.000000e-01, -1.000000e+00, 0x7F800000]> : tensor<5xf32>
  func.return
}

func.func @round_nearest_afz() {
  %x = stablehlo.constant dense<[-2.5, -0.0, 0.5, 1.0, 0xFF800000]> : tensor<5xf32>
  %r = stablehlo.round_nearest_afz %x : tensor<5xf32>
  check.expect_eq_const %r, dense<[-3.000000e+00, -0.000000e+00, 1.000000e+00, 1.000000e+00, 0xFF800000]> : tensor<5xf32>
  func.return
}

func.func @round_nearest_even() {
  %x = stablehlo.constant dense<[-2.5, -0.0, 0.5, 1.0, 0xFF800000]> : tensor<5xf32>
  %r = stablehlo.round_nearest_even %x : tensor<5xf32>
  check.expect_eq_const %r, dense<[-2.000000e+00, -0.000000e+00, 0.000000e+00, 1.000000e+00, 0xFF800000]> : tensor<5xf32>
  func.return
}

func.func @sign() {
  %x = stablehlo.constant dense<[-2.5, -0.0, 0.5, 1.0, 0xFF800000]> : tensor<5xf32>
  %r = stablehlo.sign %x : tensor<5xf32>
  check.expect_eq_const %r, dense<[-1.000000e+00, -0.000000e+00, 1.000000e+00, 1.000000e+00, -1.000000e+00]> : tensor<5xf32>
  func.return
}

func.func @sine() {
  %x = stablehlo.constant dense<[-2.5, -0.0, 0.5, 1.0, 0xFF800000]> : tensor<5xf32>
  %r = stablehlo.sine %x : tensor<5xf32>
  %expected = stablehlo.constant dense<[-0.598472118, -0.000000e+00, 0.47942555, 0.841470957, 0xFFC00000]> : tensor<5xf32>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-06 : f64} : (tensor<5xf32>, tensor<5xf32>) -> ()
  func.return
}

func.func @tan() {
  %x = stablehlo.constant dense<[-2.5, -0.0, 0.5, 1.0, 0xFF800000]> : tensor<5xf32>
  %r = stablehlo.tan %x : tensor<5xf32>
  %expected = stablehlo.constant dense<[0.747022271, -0.000000e+00, 0.546302497, 1.55740774, 0xFFC00000]> : tensor<5xf32>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-06 : f64} : (tensor<5xf32>, tensor<5xf32>) -> ()
  func.return
}

func.func @tanh() {
  %x = stablehlo.constant dense<[-2.5, -0.0, 0.5, 1.0, 0xFF800000]> : tensor<5xf32>
  %r = stablehlo.tanh %x : tensor<5xf32>
  %expected = stablehlo.constant dense<[-0.986614286, -0.000000e+00, 0.462117165, 0.761594176, -1.000000e+00]> : tensor<5xf32>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-06 : f64} : (tensor<5xf32>, tensor<5xf32>) -> ()
  func.return
}

func.func @cbrt() {
  %x = stablehlo.constant dense<[0.25, 0.5, 1.0, 2.0, 9.0]> : tensor<5xf32>
  %r = stablehlo.cbrt %x : tensor<5xf32>
  %expected = stablehlo.constant dense<[0.629960536, 0.793700516, 1.000000e+00, 1.25992107, 2.08008385]> : tensor<5xf32>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-06 : f64} : (tensor<5xf32>, tensor<5xf32>) -> ()
  func.return
}

func.func @log() {
  %x = stablehlo.constant dense<[0.25, 0.5, 1.0, 2.0, 9.0]> : tensor<5xf32>
  %r = stablehlo.log %x : tensor<5xf32>
  %expected = stablehlo.constant dense<[-1.38629436, -0.693147182, 0.000000e+00, 0.693147182, 2.19722462]> : tensor<5xf32>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-06 : f64} : (tensor<5xf32>, tensor<5xf32>) -> ()
  func.return
}

func.func @log_plus_one() {
  %x = stablehlo.constant dense<[0.25, 0.5, 1.0, 2.0, 9.0]> : tensor<5xf32>
  %r = stablehlo.log_plus_one %x : tensor<5xf32>
  %expected = stablehlo.constant dense<[0.223143548, 0.405465096, 0.693147182, 1.09861231, 2.30258512]> : tensor<5xf32>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-06 : f64} : (tensor<5xf32>, tensor<5xf32>) -> ()
  func.return
}

func.func @rsqrt() {
  %x = stablehlo.constant dense<[0.25, 0.5, 1.0, 2.0, 9.0]> : tensor<5xf32>
  %r = stablehlo.rsqrt %x : tensor<5xf32>
  %expected = stablehlo.constant dense<[2.000000e+00, 1.41421354, 1.000000e+00, 0.707106769, 0.333333343]> : tensor<5xf32>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-06 : f64} : (tensor<5xf32>, tensor<5xf32>) -> ()
  func.return
}

func.func @sqrt() {
  %x = stablehlo.constant dense<[0.25, 0.5, 1.0, 2.0, 9.0]> : tensor<5xf32>
  %r = stablehlo.sqrt %x : tensor<5xf32>
  %expected = stablehlo.constant dense<[5.000000e-01, 0.707106769, 1.000000e+00, 1.41421354, 3.000000e+00]> : tensor<5xf32>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-06 : f64} : (tensor<5xf32>, tensor<5xf32>) -> ()
  func.return
}

func.func @is_finite() {
  %x = stablehlo.constant dense<[-2.5, -0.0, 0.5, 1.0, 0xFF800000]> : tensor<5xf32>
  %r = stablehlo.is_finite %x : (tensor<5xf32>) -> tensor<5xi1>
  check.expect_eq_const %r, dense<[true, true, true, true, false]> : tensor<5xi1>
  func.return
}

func.func @not() {
  %x = stablehlo.constant dense<[0, 5, -1]> : tensor<3xi8>
  %r = stablehlo.not %x : tensor<3xi8>
  check.expect_eq_const %r, dense<[-1, -6, 0]> : tensor<3xi8>
  func.return
}

func.func @not_i1() {
  %x = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %r = stablehlo.not %x : tensor<2xi1>
  check.expect_eq_const %r, dense<[false, true]> : tensor<2xi1>
  func.return
}

func.func @popcnt() {
  %x = stablehlo.constant dense<[0, 5, 255]> : tensor<3xui8>
  %r = stablehlo.popcnt %x : tensor<3xui8>
  check.expect_eq_const %r, dense<[0, 2, 8]> : tensor<3xui8>
  func.return
}

func.func @count_leading_zeros() {
  %x = stablehlo.constant dense<[0, 5, -1]> : tensor<3xi32>
  %r = stablehlo.count_leading_zeros %x : tensor<3xi32>
  check.expect_eq_const %r, dense<[32, 29, 0]> : tensor<3xi32>
  func.return
}

func.func @convert_f32_i32() {
  %x = stablehlo.constant dense<[-2.5, 3.7, 0.0]> : tensor<3xf32>
  %r = stablehlo.convert %x : (tensor<3xf32>) -> tensor<3xi32>
  check.expect_eq_const %r, dense<[-2, 3, 0]> : tensor<3xi32>
  func.return
}

func.func @convert_i32_ui8() {
  %x = stablehlo.constant dense<[-1, 300, 0]> : tensor<3xi32>
  %r = stablehlo.convert %x : (tensor<3xi32>) -> tensor<3xui8>
  check.expect_eq_const %r, dense<[255, 44, 0]> : tensor<3xui8>
  func.return
}

func.func @convert_i1_f32() {
  %x = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
  %r = stablehlo.convert %x : (tensor<3xi1>) -> tensor<3xf32>
  check.expect_eq_const %r, dense<[1.000000e+00, 0.000000e+00, 1.000000e+00]> : tensor<3xf32>
  func.return
}

func.func @convert_f32_bf16() {
  %x = stablehlo.constant dense<[1.00390625, -2.5, 65519.0]> : tensor<3xf32>
  %r = stablehlo.convert %x : (tensor<3xf32>) -> tensor<3xbf16>
  check.expect_eq_const %r, dense<[1.000000e+00, -2.500000e+00, 6.553600e+04]> : tensor<3xbf16>
  func.return
}

func.func @convert_f64_f32() {
  %x = stablehlo.constant dense<[1.1, -0.0, 1.0e300]> : tensor<3xf64>
  %r = stablehlo.convert %x : (tensor<3xf64>) -> tensor<3xf32>
  check.expect_eq_const %r, dense<[1.100000e+00, -0.000000e+00, 0x7F800000]> : tensor<3xf32>
  func.return
}

func.func @convert_ui64_f32() {
  %x = stablehlo.constant dense<[18446744073709551615, 0, 7]> : tensor<3xui64>
  %r = stablehlo.convert %x : (tensor<3xui64>) -> tensor<3xf32>
  check.expect_eq_const %r, dense<[1.84467441E+19, 0.000000e+00, 7.000000e+00]> : tensor<3xf32>
  func.return
}

func.func @convert_f16_f64() {
  %x = stablehlo.constant dense<[0.1, 65504.0, -0.0]> : tensor<3xf16>
  %r = stablehlo.convert %x : (tensor<3xf16>) -> tensor<3xf64>
  check.expect_eq_const %r, dense<[0.0999755859375, 6.550400e+04, -0.000000e+00]> : tensor<3xf64>
  func.return
}

func.func @bitcast_convert() {
  %x = stablehlo.constant dense<[-2.5, -0.0, 0.5, 1.0, 0xFF800000]> : tensor<5xf32>
  %r = stablehlo.bitcast_convert %x : (tensor<5xf32>) -> tensor<5xi32>
  check.expect_eq_const %r, dense<[-1071644672, -2147483648, 1056964608, 1065353216, -8388608]> : tensor<5xi32>
  func.return
}

func.func @bitcast_convert_narrower() {
  %x = stablehlo.constant dense<[1, 258]> : tensor<2xi16>
  %r = stablehlo.bitcast_convert %x : (tensor<2xi16>) -> tensor<2x2xui8>
  check.expect_eq_const %r, dense<[[1, 0], [2, 1]]> : tensor<2x2xui8>
  func.return
}

func.func @reduce_precision() {
  %x = stablehlo.constant dense<[1.1, 3.0e38, 1.0e-40]> : tensor<3xf32>
  %r = stablehlo.reduce_precision %x, format = e5m10 : tensor<3xf32>
  check.expect_eq_const %r, dense<[1.09960938, 0x7F800000, 0.000000e+00]> : tensor<3xf32>
  func.return
}
