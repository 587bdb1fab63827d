// Written by check_modules.py: what is expected is what StableHLO's reference interpreter computes, or, where it
// lacks an operation, what check_cases.py says.

func.func @acos() {
  %x = stablehlo.constant dense<[-0.5, 0.25, 0.75]> : tensor<3xf64>
  %r = chlo.acos %x : tensor<3xf64> -> tensor<3xf64>
  %expected = stablehlo.constant dense<[2.0943951023931957, 1.318116071652818, 0.7227342478134157]> : tensor<3xf64>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-12 : f64} : (tensor<3xf64>, tensor<3xf64>) -> ()
  func.return
}

func.func @acosh() {
  %x = stablehlo.constant dense<[1.0, 1.5, 4.0]> : tensor<3xf64>
  %r = chlo.acosh %x : tensor<3xf64> -> tensor<3xf64>
  %expected = stablehlo.constant dense<[0.0, 0.9624236501192069, 2.0634370688955608]> : tensor<3xf64>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-12 : f64} : (tensor<3xf64>, tensor<3xf64>) -> ()
  func.return
}

func.func @asin() {
  %x = stablehlo.constant dense<[-0.5, 0.25, 0.75]> : tensor<3xf64>
  %r = chlo.asin %x : tensor<3xf64> -> tensor<3xf64>
  %expected = stablehlo.constant dense<[-0.5235987755982989, 0.25268025514207865, 0.848062078981481]> : tensor<3xf64>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-12 : f64} : (tensor<3xf64>, tensor<3xf64>) -> ()
  func.return
}

func.func @asinh() {
  %x = stablehlo.constant dense<[-0.5, 0.25, 0.75]> : tensor<3xf64>
  %r = chlo.asinh %x : tensor<3xf64> -> tensor<3xf64>
  %expected = stablehlo.constant dense<[-0.48121182505960347, 0.24746646154726346, 0.6931471805599453]> : tensor<3xf64>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-12 : f64} : (tensor<3xf64>, tensor<3xf64>) -> ()
  func.return
}

func.func @atan() {
  %x = stablehlo.constant dense<[-0.5, 0.25, 0.75]> : tensor<3xf64>
  %r = chlo.atan %x : tensor<3xf64> -> tensor<3xf64>
  %expected = stablehlo.constant dense<[-0.4636476090008061, 0.24497866312686414, 0.6435011087932844]> : tensor<3xf64>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-12 : f64} : (tensor<3xf64>, tensor<3xf64>) -> ()
  func.return
}

func.func @atanh() {
  %x = stablehlo.constant dense<[-0.5, 0.25, 0.75]> : tensor<3xf64>
  %r = chlo.atanh %x : tensor<3xf64> -> tensor<3xf64>
  %expected = stablehlo.constant dense<[-0.5493061443340548, 0.25541281188299536, 0.9729550745276566]> : tensor<3xf64>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-12 : f64} : (tensor<3xf64>, tensor<3xf64>) -> ()
  func.return
}

func.func @cosh() {
  %x = stablehlo.constant dense<[-0.5, 0.25, 0.75]> : tensor<3xf64>
  %r = chlo.cosh %x : tensor<3xf64> -> tensor<3xf64>
  %expected = stablehlo.constant dense<[1.1276259652063807, 1.0314130998795732, 1.2946832846768448]> : tensor<3xf64>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-12 : f64} : (tensor<3xf64>, tensor<3xf64>) -> ()
  func.return
}

func.func @erf() {
  %x = stablehlo.constant dense<[-0.5, 0.25, 0.75]> : tensor<3xf64>
  %r = chlo.erf %x : tensor<3xf64> -> tensor<3xf64>
  %expected = stablehlo.constant dense<[-0.5204998778130465, 0.2763263901682369, 0.7111556336535151]> : tensor<3xf64>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-12 : f64} : (tensor<3xf64>, tensor<3xf64>) -> ()
  func.return
}

func.func @erfc() {
  %x = stablehlo.constant dense<[-0.5, 0.25, 0.75]> : tensor<3xf64>
  %r = chlo.erfc %x : tensor<3xf64> -> tensor<3xf64>
  %expected = stablehlo.constant dense<[1.5204998778130465, 0.7236736098317631, 0.28884436634648486]> : tensor<3xf64>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-12 : f64} : (tensor<3xf64>, tensor<3xf64>) -> ()
  func.return
}

func.func @lgamma() {
  %x = stablehlo.constant dense<[0.5, 2.5, 7.0]> : tensor<3xf64>
  %r = chlo.lgamma %x : tensor<3xf64> -> tensor<3xf64>
  %expected = stablehlo.constant dense<[0.5723649429247004, 0.2846828704729196, 6.579251212010102]> : tensor<3xf64>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-12 : f64} : (tensor<3xf64>, tensor<3xf64>) -> ()
  func.return
}

func.func @sinh() {
  %x = stablehlo.constant dense<[-0.5, 0.25, 0.75]> : tensor<3xf64>
  %r = chlo.sinh %x : tensor<3xf64> -> tensor<3xf64>
  %expected = stablehlo.constant dense<[-0.5210953054937474, 0.2526123168081683, 0.82231673193583]> : tensor<3xf64>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-12 : f64} : (tensor<3xf64>, tensor<3xf64>) -> ()
  func.return
}

func.func @square() {
  %x = stablehlo.constant dense<[-0.5, 0.25, 0.75]> : tensor<3xf64>
  %r = chlo.square %x : tensor<3xf64> -> tensor<3xf64>
  %expected = stablehlo.constant dense<[0.25, 0.0625, 0.5625]> : tensor<3xf64>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-12 : f64} : (tensor<3xf64>, tensor<3xf64>) -> ()
  func.return
}

func.func @tan() {
  %x = stablehlo.constant dense<[-0.5, 0.25, 0.75]> : tensor<3xf64>
  %r = chlo.tan %x : tensor<3xf64> -> tensor<3xf64>
  %expected = stablehlo.constant dense<[-0.5463024898437905, 0.25534192122103627, 0.9315964599440725]> : tensor<3xf64>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-12 : f64} : (tensor<3xf64>, tensor<3xf64>) -> ()
  func.return
}

func.func @digamma() {
  %x = stablehlo.constant dense<[1.0, 0.5, 2.0]> : tensor<3xf64>
  %r = chlo.digamma %x : tensor<3xf64> -> tensor<3xf64>
  %expected = stablehlo.constant dense<[-0.5772156649015329, -1.9635100260214235, 0.42278433509846713]> : tensor<3xf64>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-12 : f64} : (tensor<3xf64>, tensor<3xf64>) -> ()
  func.return
}

func.func @erf_inv() {
  %x = stablehlo.constant dense<[0.5, -0.5, 0.0]> : tensor<3xf64>
  %r = chlo.erf_inv %x : tensor<3xf64> -> tensor<3xf64>
  %expected = stablehlo.constant dense<[0.4769362762044699, -0.4769362762044699, 0.0]> : tensor<3xf64>
  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) {tolerance = 1.000000e-12 : f64} : (tensor<3xf64>, tensor<3xf64>) -> ()
  func.return
}

func.func @is_inf() {
  %x = stablehlo.constant dense<[0x7F800000, 0xFF800000, 0x7FC00000, 1.0]> : tensor<4xf32>
  %r = chlo.is_inf %x : tensor<4xf32> -> tensor<4xi1>
  check.expect_eq_const %r, dense<[true, true, false, false]> : tensor<4xi1>
  func.return
}

func.func @is_pos_inf() {
  %x = stablehlo.constant dense<[0x7F800000, 0xFF800000, 0x7FC00000, 1.0]> : tensor<4xf32>
  %r = chlo.is_pos_inf %x : tensor<4xf32> -> tensor<4xi1>
  check.expect_eq_const %r, dense<[true, false, false, false]> : tensor<4xi1>
  func.return
}

func.func @is_neg_inf() {
  %x = stablehlo.constant dense<[0x7F800000, 0xFF800000, 0x7FC00000, 1.0]> : tensor<4xf32>
  %r = chlo.is_neg_inf %x : tensor<4xf32> -> tensor<4xi1>
  check.expect_eq_const %r, dense<[false, true, false, false]> : tensor<4xi1>
  func.return
}

func.func @next_after() {
  %x = stablehlo.constant dense<[1.0, 0.0, 1.0]> : tensor<3xf32>
  %y = stablehlo.constant dense<[2.0, -1.0, 1.0]> : tensor<3xf32>
  %r = chlo.next_after %x, %y : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
  check.expect_eq_const %r, dense<[0x3F800001, 0x80000001, 1.0]> : tensor<3xf32>
  func.return
}

func.func @constant() {
  %r = chlo.constant dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const %r, dense<[1, 2]> : tensor<2xi32>
  func.return
}

func.func @top_k() {
  %x = stablehlo.constant dense<[3.0, 9.0, -1.0, 9.0]> : tensor<4xf32>
  %r, %i = chlo.top_k(%x, k = 3) : tensor<4xf32> -> (tensor<3xf32>, tensor<3xi32>)
  check.expect_eq_const %r, dense<[9.0, 9.0, 3.0]> : tensor<3xf32>
  func.return
}
