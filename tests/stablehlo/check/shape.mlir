// Written by check_modules.py: what is expected is what StableHLO's reference interpreter computes, or, where it
// lacks an operation, what check_cases.py says.

func.func @broadcast_in_dim() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %r = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<2xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %r, dense<[[1, 2], [1, 2], [1, 2]]> : tensor<3x2xi32>
  func.return
}

func.func @concatenate() {
  %m = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %r = stablehlo.concatenate %m, %m, dim = 1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x6xi32>
  check.expect_eq_const %r, dense<[[1, 2, 3, 1, 2, 3], [4, 5, 6, 4, 5, 6]]> : tensor<2x6xi32>
  func.return
}

func.func @constant() {
  %r = stablehlo.constant dense<"0x0100FFFF"> : tensor<2xi16>
  check.expect_eq_const %r, dense<[1, -1]> : tensor<2xi16>
  func.return
}

func.func @iota() {
  %r = stablehlo.iota dim = 1 : tensor<2x3xf32>
  check.expect_eq_const %r, dense<[[0.000000e+00, 1.000000e+00, 2.000000e+00], [0.000000e+00, 1.000000e+00, 2.000000e+00]]> : tensor<2x3xf32>
  func.return
}

func.func @pad() {
  %m = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %p = stablehlo.constant dense<9> : tensor<i32>
  %r = stablehlo.pad %m, %p, low = [1, -1], high = [0, 2], interior = [1, 0] : (tensor<2x3xi32>, tensor<i32>)
      -> tensor<4x4xi32>
  check.expect_eq_const %r, dense<[[9, 9, 9, 9], [2, 3, 9, 9], [9, 9, 9, 9], [5, 6, 9, 9]]> : tensor<4x4xi32>
  func.return
}

func.func @reshape() {
  %m = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %r = stablehlo.reshape %m : (tensor<2x3xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %r, dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  func.return
}

func.func @reverse() {
  %m = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %r = stablehlo.reverse %m, dims = [0, 1] : tensor<2x3xi32>
  check.expect_eq_const %r, dense<[[6, 5, 4], [3, 2, 1]]> : tensor<2x3xi32>
  func.return
}

func.func @slice() {
  %m = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %r = stablehlo.slice %m [0:2, 0:3:2] : (tensor<2x3xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %r, dense<[[1, 3], [4, 6]]> : tensor<2x2xi32>
  func.return
}

func.func @transpose() {
  %m = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %r = stablehlo.transpose %m, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %r, dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
  func.return
}

func.func @dynamic_slice() {
  %m = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %i = stablehlo.constant dense<7> : tensor<i32>
  %j = stablehlo.constant dense<-1> : tensor<i32>
  %r = stablehlo.dynamic_slice %m, %i, %j, sizes = [1, 2] : (tensor<2x3xi32>, tensor<i32>, tensor<i32>)
      -> tensor<1x2xi32>
  check.expect_eq_const %r, dense<[[4, 5]]> : tensor<1x2xi32>
  func.return
}

func.func @dynamic_update_slice() {
  %m = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %u = stablehlo.constant dense<[[8, 9]]> : tensor<1x2xi32>
  %i = stablehlo.constant dense<1> : tensor<i64>
  %r = stablehlo.dynamic_update_slice %m, %u, %i, %i : (tensor<2x3xi32>, tensor<1x2xi32>, tensor<i64>,
      tensor<i64>) -> tensor<2x3xi32>
  check.expect_eq_const %r, dense<[[1, 2, 3], [4, 8, 9]]> : tensor<2x3xi32>
  func.return
}

func.func @gather() {
  %m = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %i = stablehlo.constant dense<[[2, 0], [1, 5], [-1, 1]]> : tensor<3x2xi32>
  %r = "stablehlo.gather"(%m, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1],
      start_index_map = [1, 0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x3xi32>,
      tensor<3x2xi32>) -> tensor<3xi32>
  check.expect_eq_const %r, dense<[3, 5, 4]> : tensor<3xi32>
  func.return
}

func.func @optimization_barrier() {
  %m = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %r = stablehlo.optimization_barrier %m : tensor<2x3xi32>
  check.expect_eq_const %r, dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  func.return
}

func.func @get_dimension_size() {
  %m = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %r = stablehlo.get_dimension_size %m, dim = 1 : (tensor<2x3xi32>) -> tensor<i32>
  check.expect_eq_const %r, dense<3> : tensor<i32>
  func.return
}

func.func @dynamic_iota() {
  %s = stablehlo.constant dense<[2, 2]> : tensor<2xi32>
  %r = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %r, dense<[[0, 0], [1, 1]]> : tensor<2x2xi32>
  func.return
}

func.func @dynamic_reshape() {
  %m = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %s = stablehlo.constant dense<[3, 2]> : tensor<2xi32>
  %r = stablehlo.dynamic_reshape %m, %s : (tensor<2x3xi32>, tensor<2xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %r, dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  func.return
}

func.func @dynamic_broadcast_in_dim() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %s = stablehlo.constant dense<[3, 2]> : tensor<2xi32>
  %r = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1] : (tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %r, dense<[[1, 2], [1, 2], [1, 2]]> : tensor<3x2xi32>
  func.return
}

func.func @dynamic_pad() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %p = stablehlo.constant dense<0> : tensor<i32>
  %l = stablehlo.constant dense<[1]> : tensor<1xi32>
  %r = stablehlo.dynamic_pad %x, %p, %l, %l, %l : (tensor<2xi32>, tensor<i32>, tensor<1xi32>, tensor<1xi32>,
      tensor<1xi32>) -> tensor<5xi32>
  check.expect_eq_const %r, dense<[0, 1, 0, 2, 0]> : tensor<5xi32>
  func.return
}

func.func @real_dynamic_slice() {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %l = stablehlo.constant dense<[1]> : tensor<1xi32>
  %h = stablehlo.constant dense<[4]> : tensor<1xi32>
  %t = stablehlo.constant dense<[2]> : tensor<1xi32>
  %r = stablehlo.real_dynamic_slice %x, %l, %h, %t : (tensor<4xi32>, tensor<1xi32>, tensor<1xi32>,
      tensor<1xi32>) -> tensor<2xi32>
  check.expect_eq_const %r, dense<[2, 4]> : tensor<2xi32>
  func.return
}

func.func @dynamic_gather() {
  %m = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %i = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
  %s = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
  %r = "stablehlo.dynamic_gather"(%m, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
      collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<2x3xi32>,
      tensor<2xi32>, tensor<2xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %r, dense<[[4, 5, 6], [1, 2, 3]]> : tensor<2x3xi32>
  func.return
}
