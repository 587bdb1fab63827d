// Written by check_modules.py: what is expected is what StableHLO's reference interpreter computes, or, where it
// lacks an operation, what check_cases.py says.

func.func @reduce_add() {
  %m = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]]> : tensor<2x3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%m init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>,
      tensor<f32>) -> tensor<2xf32>
  check.expect_eq_const %r, dense<[6.000000e+00, 5.000000e+00]> : tensor<2xf32>
  func.return
}

func.func @reduce_maximum() {
  %m = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]]> : tensor<2x3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%m init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>,
      tensor<f32>) -> tensor<2xf32>
  check.expect_eq_const %r, dense<[3.000000e+00, 6.000000e+00]> : tensor<2xf32>
  func.return
}

func.func @reduce_minimum() {
  %m = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]]> : tensor<2x3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%m init: %z) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3xf32>,
      tensor<f32>) -> tensor<2xf32>
  check.expect_eq_const %r, dense<[0.000000e+00, -5.000000e+00]> : tensor<2xf32>
  func.return
}

func.func @reduce_multiply() {
  %m = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]]> : tensor<2x3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%m init: %z) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3xf32>,
      tensor<f32>) -> tensor<2xf32>
  check.expect_eq_const %r, dense<[0.000000e+00, -0.000000e+00]> : tensor<2xf32>
  func.return
}

func.func @reduce_and() {
  %x = stablehlo.constant dense<[[true, false], [true, true]]> : tensor<2x2xi1>
  %z = stablehlo.constant dense<true> : tensor<i1>
  %r = stablehlo.reduce(%x init: %z) applies stablehlo.and across dimensions = [1] : (tensor<2x2xi1>,
      tensor<i1>) -> tensor<2xi1>
  check.expect_eq_const %r, dense<[false, true]> : tensor<2xi1>
  func.return
}

func.func @reduce_or() {
  %x = stablehlo.constant dense<[[true, false], [true, true]]> : tensor<2x2xi1>
  %z = stablehlo.constant dense<true> : tensor<i1>
  %r = stablehlo.reduce(%x init: %z) applies stablehlo.or across dimensions = [1] : (tensor<2x2xi1>,
      tensor<i1>) -> tensor<2xi1>
  check.expect_eq_const %r, dense<true> : tensor<2xi1>
  func.return
}

func.func @reduce_own() {
  %m = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]]> : tensor<2x3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%m init: %z) across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %c = stablehlo.multiply %a, %b : tensor<f32>
    %d = stablehlo.add %a, %b : tensor<f32>
    %e = stablehlo.add %c, %d : tensor<f32>
    stablehlo.return %e : tensor<f32>
   }
  check.expect_eq_const %r, dense<[9.000000e+00, -1.300000e+01, 2.700000e+01]> : tensor<3xf32>
  func.return
}

func.func @reduce_arg_max() {
  %m = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]]> : tensor<2x3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %i = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %j = stablehlo.constant dense<-1> : tensor<i32>
  %n = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %v, %r = stablehlo.reduce(%m init: %n), (%i init: %j) across dimensions = [1] : (tensor<2x3xf32>,
      tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>) {
    %c = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %d = stablehlo.select %c, %a, %b : tensor<i1>, tensor<f32>
    %e = stablehlo.select %c, %p, %q : tensor<i1>, tensor<i32>
    stablehlo.return %d, %e : tensor<f32>, tensor<i32>
   }
  check.expect_eq_const %r, dense<2> : tensor<2xi32>
  func.return
}

func.func @reduce_window_add() {
  %m = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]]> : tensor<2x3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%m, %z) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 1>,
    padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>}> ({
   ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
   }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  check.expect_eq_const %r, dense<[[1.000000e+00, 3.000000e+00, 5.000000e+00], [4.000000e+00, -1.000000e+00, 1.000000e+00]]> : tensor<2x3xf32>
  func.return
}

func.func @reduce_window_maximum() {
  %m = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]]> : tensor<2x3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%m, %z) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 1>,
    padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>}> ({
   ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
   }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  check.expect_eq_const %r, dense<[[1.000000e+00, 2.000000e+00, 3.000000e+00], [4.000000e+00, 4.000000e+00, 6.000000e+00]]> : tensor<2x3xf32>
  func.return
}

func.func @select_and_scatter() {
  %x = stablehlo.constant dense<[1.0, 5.0, 2.0, 7.0]> : tensor<4xf32>
  %s = stablehlo.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.select_and_scatter"(%x, %s, %z) <{window_dimensions = array<i64: 2>,
      window_strides = array<i64: 2>}> ({
   ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
   }, {
   ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
   }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  check.expect_eq_const %r, dense<[0.000000e+00, 1.000000e+01, 0.000000e+00, 2.000000e+01]> : tensor<4xf32>
  func.return
}
