// What the reference interpreter does not tell: computed by hand.
func.func @dot() {
  %a = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf64>
  %b = stablehlo.constant dense<[5.0, -1.0]> : tensor<2xf64>
  %0 = stablehlo.dot %a, %b : (tensor<2x2xf64>, tensor<2xf64>) -> tensor<2xf64>
  check.expect_eq_const %0, dense<[3.0, 11.0]> : tensor<2xf64>
  return
}
func.func @cholesky_of_either_triangle() {
  %a = stablehlo.constant dense<[[4.0, 2.0], [2.0, 5.0]]> : tensor<2x2xf64>
  %0 = stablehlo.cholesky %a, lower = true : tensor<2x2xf64>
  check.expect_almost_eq_const %0, dense<[[2.0, 0.0], [1.0, 2.0]]> : tensor<2x2xf64>
  %1 = stablehlo.cholesky %a : tensor<2x2xf64>
  check.expect_almost_eq_const %1, dense<[[2.0, 1.0], [0.0, 2.0]]> : tensor<2x2xf64>
  return
}
func.func @triangular_solve() {
  %a = stablehlo.constant dense<[[2.0, 0.0], [1.0, 4.0]]> : tensor<2x2xf64>
  %b = stablehlo.constant dense<[[2.0], [9.0]]> : tensor<2x1xf64>
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf64>, tensor<2x1xf64>) -> tensor<2x1xf64>
  check.expect_almost_eq_const %0, dense<[[1.0], [2.0]]> : tensor<2x1xf64>
  %1 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<2x2xf64>, tensor<2x1xf64>) -> tensor<2x1xf64>
  check.expect_almost_eq_const %1, dense<[[-0.125], [2.25]]> : tensor<2x1xf64>
  return
}
func.func @if() {
  %p = stablehlo.constant dense<true> : tensor<i1>
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %0:2 = "stablehlo.if"(%p) ({
    %1 = stablehlo.add %x, %x : tensor<2xi32>
    stablehlo.return %1, %x : tensor<2xi32>, tensor<2xi32>
  }, {
    stablehlo.return %x, %x : tensor<2xi32>, tensor<2xi32>
  }) : (tensor<i1>) -> (tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %0#0, dense<[2, 4]> : tensor<2xi32>
  check.expect_eq %0#1, %x : tensor<2xi32>
  return
}
func.func @case_out_of_range() {
  %i = stablehlo.constant dense<9> : tensor<i32>
  %0 = "stablehlo.case"(%i) ({
    %c = stablehlo.constant dense<10> : tensor<i32>
    stablehlo.return %c : tensor<i32>
  }, {
    %c = stablehlo.constant dense<11> : tensor<i32>
    stablehlo.return %c : tensor<i32>
  }, {
    %c = stablehlo.constant dense<12> : tensor<i32>
    stablehlo.return %c : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  check.expect_eq_const %0, dense<12> : tensor<i32>
  return
}
func.func @arithmetic_of_bools() {
  %a = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %b = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %0 = stablehlo.add %a, %b : tensor<4xi1>
  check.expect_eq_const %0, dense<[false, true, true, true]> : tensor<4xi1>
  %1 = stablehlo.multiply %a, %b : tensor<4xi1>
  check.expect_eq_const %1, dense<[false, false, false, true]> : tensor<4xi1>
  %2 = stablehlo.maximum %a, %b : tensor<4xi1>
  check.expect_eq %2, %0 : tensor<4xi1>
  return
}
func.func @total_order() {
  %a = stablehlo.constant dense<[0xFFC00000, -0.0, 0.0, 1.0, 0x7FC00000]> : tensor<5xf32>
  %b = stablehlo.constant dense<[0xFF800000, 0.0, -0.0, 2.0, 0x7F800000]> : tensor<5xf32>
  %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  check.expect_eq_const %0, dense<[true, true, false, true, false]> : tensor<5xi1>
  %1 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  check.expect_eq_const %1, dense<[false, false, false, true, false]> : tensor<5xi1>
  return
}
func.func @tests_of_infinity() {
  %a = stablehlo.constant dense<[1.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<4xf32>
  %0 = chlo.is_inf %a : tensor<4xf32> -> tensor<4xi1>
  check.expect_eq_const %0, dense<[false, true, true, false]> : tensor<4xi1>
  %1 = chlo.is_pos_inf %a : tensor<4xf32> -> tensor<4xi1>
  check.expect_eq_const %1, dense<[false, true, false, false]> : tensor<4xi1>
  %2 = chlo.is_neg_inf %a : tensor<4xf32> -> tensor<4xi1>
  check.expect_eq_const %2, dense<[false, false, true, false]> : tensor<4xi1>
  return
}
func.func @sizes_that_are_values() {
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %one = stablehlo.constant dense<1> : tensor<1xi64>
  %three = stablehlo.constant dense<3> : tensor<1xi64>
  %four = stablehlo.add %one, %three : tensor<1xi64>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.real_dynamic_slice %x, %one, %three, %one : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  %1 = stablehlo.dynamic_pad %0, %zero, %one, %one, %one : (tensor<?xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<5xf32>
  check.expect_eq_const %1, dense<[0.0, 2.0, 0.0, 3.0, 0.0]> : tensor<5xf32>
  %2 = stablehlo.dynamic_iota %four, dim = 0 : (tensor<1xi64>) -> tensor<4xi32>
  check.expect_eq_const %2, dense<[0, 1, 2, 3]> : tensor<4xi32>
  return
}
func.func private @double(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @composites_of_others() {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = stablehlo.composite "other.double" %x {composite_attributes = {scale = 2.0 : f32}, decomposition = @double} : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %0, dense<[2.0, 4.0]> : tensor<2xf32>
  return
}
func.func @starts_that_change_the_result() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %0 = stablehlo.reduce(%x init: %ten) applies stablehlo.add across dimensions = [1, 0] : (tensor<2x2xi32>, tensor<i32>) -> tensor<i32>
  check.expect_eq_const %0, dense<20> : tensor<i32>
  %1 = stablehlo.reduce(%x init: %ten) applies stablehlo.maximum across dimensions = [0] : (tensor<2x2xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %1, dense<10> : tensor<2xi32>
  return
}
func.func @scatters_in_order() {
  %x = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf64>
  %i = stablehlo.constant dense<[[0], [0], [5]]> : tensor<3x1xi32>
  %u = stablehlo.constant dense<[2.0, 3.0, 4.0]> : tensor<3xf64>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %1 = stablehlo.multiply %a, %a : tensor<f64>
    %2 = stablehlo.add %1, %b : tensor<f64>
    stablehlo.return %2 : tensor<f64>
  }) : (tensor<2xf64>, tensor<3x1xi32>, tensor<3xf64>) -> tensor<2xf64>
  check.expect_eq_const %0, dense<[12.0, 1.0]> : tensor<2xf64>
  return
}
func.func @selects_and_scatters_from_a_start() {
  %x = stablehlo.constant dense<[1.0, 5.0, 2.0, 3.0]> : tensor<4xf64>
  %v = stablehlo.constant dense<[10.0, 20.0]> : tensor<2xf64>
  %start = stablehlo.constant dense<0.5> : tensor<f64>
  %0 = "stablehlo.select_and_scatter"(%x, %v, %start) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f64>, tensor<f64>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %1 = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %1 : tensor<f64>
  }) : (tensor<4xf64>, tensor<2xf64>, tensor<f64>) -> tensor<4xf64>
  check.expect_eq_const %0, dense<[0.5, 10.5, 0.5, 20.5]> : tensor<4xf64>
  return
}
func.func @comparators_of_others() {
  // By the distance from 2, in a region that JAX does not write.
  %x = stablehlo.constant dense<[5.0, 2.5, -1.0, 1.0]> : tensor<4xf32>
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.subtract %a, %two : tensor<f32>
    %2 = stablehlo.subtract %b, %two : tensor<f32>
    %3 = stablehlo.abs %1 : tensor<f32>
    %4 = stablehlo.abs %2 : tensor<f32>
    %5 = stablehlo.compare LT, %3, %4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %5 : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  check.expect_eq_const %0, dense<[2.5, 1.0, 5.0, -1.0]> : tensor<4xf32>
  return
}
func.func @threefry_and_placement() {
  %k = stablehlo.constant dense<0> : tensor<ui32>
  %0:2 = stablehlo.custom_call @cu_threefry2x32(%k, %k, %k, %k) : (tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>) -> (tensor<ui32>, tensor<ui32>)
  // Salmon et al., known answers for 20 rounds.
  check.expect_eq_const %0#0, dense<0x6B200159> : tensor<ui32>
  check.expect_eq_const %0#1, dense<0x99BA4EFE> : tensor<ui32>
  %1 = stablehlo.custom_call @annotate_device_placement(%k) {backend_config = "", has_side_effect = true} : (tensor<ui32>) -> tensor<ui32>
  %2 = stablehlo.custom_call @Sharding(%1) {mhlo.sharding = "{replicated}"} : (tensor<ui32>) -> tensor<ui32>
  check.expect_eq %2, %k : tensor<ui32>
  return
}
func.func @while_to_a_narrowed_limit() {
  %first = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %c = stablehlo.constant dense<300> : tensor<i32>
  %narrow = stablehlo.convert %c : (tensor<i32>) -> tensor<ui8>
  %limit = stablehlo.convert %narrow : (tensor<ui8>) -> tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %once = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %first, %v = %zero) : tensor<i32>, tensor<i32>
  cond {
    %more = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %w = stablehlo.add %v, %once : tensor<i32>
    stablehlo.return %j, %w : tensor<i32>, tensor<i32>
  }
  check.expect_eq_const %r#1, dense<44> : tensor<i32>
  return
}
func.func @while_from_a_wrapped_start() {
  %c = stablehlo.constant dense<0> : tensor<ui32>
  %one = stablehlo.constant dense<1> : tensor<ui32>
  %first = stablehlo.subtract %c, %one : tensor<ui32>
  %limit = stablehlo.constant dense<3> : tensor<ui32>
  %zero = stablehlo.constant dense<0> : tensor<ui32>
  %once = stablehlo.constant dense<1> : tensor<ui32>
  %r:2 = stablehlo.while(%i = %first, %v = %zero) : tensor<ui32>, tensor<ui32>
  cond {
    %more = stablehlo.compare LT, %i, %limit, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<ui32>
    %w = stablehlo.add %v, %once : tensor<ui32>
    stablehlo.return %j, %w : tensor<ui32>, tensor<ui32>
  }
  check.expect_eq_const %r#1, dense<0> : tensor<ui32>
  return
}
func.func @while_to_a_wrapped_limit() {
  %first = stablehlo.constant dense<2147483644> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %c = stablehlo.constant dense<2147483647> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %limit = stablehlo.add %c, %three : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %once = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %first, %v = %zero) : tensor<i32>, tensor<i32>
  cond {
    %more = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %w = stablehlo.add %v, %once : tensor<i32>
    stablehlo.return %j, %w : tensor<i32>, tensor<i32>
  }
  check.expect_eq_const %r#1, dense<0> : tensor<i32>
  return
}
func.func @while_over_half_of_u64() {
  %first = stablehlo.constant dense<9223372036854775807> : tensor<ui64>
  %one = stablehlo.constant dense<1> : tensor<ui64>
  %limit = stablehlo.constant dense<9223372036854775810> : tensor<ui64>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %once = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %first, %v = %zero) : tensor<ui64>, tensor<i32>
  cond {
    %more = stablehlo.compare LT, %i, %limit, UNSIGNED : (tensor<ui64>, tensor<ui64>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<ui64>
    %w = stablehlo.add %v, %once : tensor<i32>
    stablehlo.return %j, %w : tensor<ui64>, tensor<i32>
  }
  check.expect_eq_const %r#1, dense<3> : tensor<i32>
  return
}
func.func @while_to_a_bool() {
  %first = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %c = stablehlo.constant dense<5> : tensor<i32>
  %p = stablehlo.convert %c : (tensor<i32>) -> tensor<i1>
  %limit = stablehlo.convert %p : (tensor<i1>) -> tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %once = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %first, %v = %zero) : tensor<i32>, tensor<i32>
  cond {
    %more = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %w = stablehlo.add %v, %once : tensor<i32>
    stablehlo.return %j, %w : tensor<i32>, tensor<i32>
  }
  check.expect_eq_const %r#1, dense<1> : tensor<i32>
  return
}
func.func @products_of_wider_operands() {
  %a = stablehlo.constant dense<[16777217.0, -16777216.0]> : tensor<2xf64>
  %b = stablehlo.constant dense<1.0> : tensor<2xf64>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<2xf64>, tensor<2xf64>) -> tensor<f32>
  check.expect_eq_const %0, dense<1.0> : tensor<f32>
  %1 = stablehlo.dot %a, %b : (tensor<2xf64>, tensor<2xf64>) -> tensor<f32>
  check.expect_eq_const %1, dense<1.0> : tensor<f32>
  %x = stablehlo.reshape %a : (tensor<2xf64>) -> tensor<1x1x2xf64>
  %k = stablehlo.reshape %b : (tensor<2xf64>) -> tensor<1x1x2xf64>
  %2 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} : (tensor<1x1x2xf64>, tensor<1x1x2xf64>) -> tensor<1x1x1xf32>
  check.expect_eq_const %2, dense<1.0> : tensor<1x1x1xf32>
  return
}
// As JAX's CPU computes them: IEEE 754's total order.
func.func @top_k_of_zeros_and_nans() {
  %x = stablehlo.constant dense<[-0.0, 0.0, -1.0]> : tensor<3xf32>
  %0:2 = chlo.top_k(%x, k = 2) : tensor<3xf32> -> (tensor<2xf32>, tensor<2xi32>)
  check.expect_eq_const %0#1, dense<[1, 0]> : tensor<2xi32>
  %bits = stablehlo.bitcast_convert %0#0 : (tensor<2xf32>) -> tensor<2xui32>
  check.expect_eq_const %bits, dense<[0, 0x80000000]> : tensor<2xui32>
  %y = stablehlo.constant dense<[0xFFC00000, 1.0, 0x7FC00000]> : tensor<3xf32>
  %1:2 = chlo.top_k(%y, k = 2) : tensor<3xf32> -> (tensor<2xf32>, tensor<2xi32>)
  check.expect_eq_const %1#1, dense<[2, 1]> : tensor<2xi32>
  return
}
func.func @reducer_that_reads_a_constant_of_its_surroundings() {
  %x = stablehlo.constant dense<1.0> : tensor<1xf32>
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  %start = stablehlo.constant dense<5.0> : tensor<f32>
  %0 = "stablehlo.reduce"(%x, %start) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.multiply %b, %c : tensor<f32>
      %s = stablehlo.add %a, %m : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<1xf32>, tensor<f32>) -> tensor<f32>
  check.expect_eq_const %0, dense<7.0> : tensor<f32>
  %1 = stablehlo.add %0, %c : tensor<f32>
  check.expect_eq_const %1, dense<9.0> : tensor<f32>
  return
}
// Where there is no Cholesky factor, as LAPACK's dpotrf says.
func.func @potrf_of_what_has_no_factor() {
  %a = stablehlo.constant dense<[[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]], [[4.0, 9.0, 9.0], [2.0, 1.0, 9.0], [1.0, 3.0, 5.0]], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]]> : tensor<3x3x3xf64>
  %0:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<3x3x3xf64>) -> (tensor<3x3x3xf64>, tensor<3xi32>)
  check.expect_eq_const %0#1, dense<[3, 2, 0]> : tensor<3xi32>
  %b = stablehlo.constant dense<[[4.0, 9.0, 9.0], [2.0, 10.0, 9.0], [1.0, 3.0, 5.0]]> : tensor<3x3xf64>
  %1:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%b) {mhlo.backend_config = {uplo = 85 : ui8}} : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<i32>)
  check.expect_eq_const %1#1, dense<2> : tensor<i32>
  %2:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%b) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<i32>)
  check.expect_eq_const %2#1, dense<0> : tensor<i32>
  return
}
// Last pivots of the size of what rounding leaves, of either sign, and a matrix without a factor: of each matrix the
// factor and what is said of it agree.
func.func @potrf_of_what_rounding_decides() {
  %i = stablehlo.iota dim = 0 : tensor<64x20x19xf64>
  %j = stablehlo.iota dim = 1 : tensor<64x20x19xf64>
  %k = stablehlo.iota dim = 2 : tensor<64x20x19xf64>
  %f = stablehlo.constant dense<1.7> : tensor<64x20x19xf64>
  %jk = stablehlo.multiply %j, %k : tensor<64x20x19xf64>
  %ik = stablehlo.add %i, %jk : tensor<64x20x19xf64>
  %ijk = stablehlo.add %ik, %k : tensor<64x20x19xf64>
  %x = stablehlo.multiply %ijk, %f : tensor<64x20x19xf64>
  %g = stablehlo.sine %x : tensor<64x20x19xf64>
  %s = stablehlo.dot_general %g, %g, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<64x20x19xf64>, tensor<64x20x19xf64>) -> tensor<64x20x20xf64>
  %n = stablehlo.iota dim = 0 : tensor<64x20x20xi32>
  %zero = stablehlo.constant dense<0> : tensor<64x20x20xi32>
  %first = stablehlo.compare EQ, %n, %zero : (tensor<64x20x20xi32>, tensor<64x20x20xi32>) -> tensor<64x20x20xi1>
  %minus = stablehlo.negate %s : tensor<64x20x20xf64>
  %a = stablehlo.select %first, %minus, %s : tensor<64x20x20xi1>, tensor<64x20x20xf64>
  %0:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<64x20x20xf64>) -> (tensor<64x20x20xf64>, tensor<64xi32>)
  %nan = stablehlo.compare NE, %0#0, %0#0 : (tensor<64x20x20xf64>, tensor<64x20x20xf64>) -> tensor<64x20x20xi1>
  %false = stablehlo.constant dense<false> : tensor<i1>
  %broken = stablehlo.reduce(%nan init: %false) applies stablehlo.or across dimensions = [1, 2] : (tensor<64x20x20xi1>, tensor<i1>) -> tensor<64xi1>
  %none = stablehlo.constant dense<0> : tensor<64xi32>
  %said = stablehlo.compare NE, %0#1, %none : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
  %differ = stablehlo.xor %said, %broken : tensor<64xi1>
  check.expect_eq_const %differ, dense<false> : tensor<64xi1>
  return
}
func.func @getrf_of_nothing() {
  %a = stablehlo.constant dense<> : tensor<2x0x3xf32>
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) : (tensor<2x0x3xf32>) -> (tensor<2x0x3xf32>, tensor<2x0xi32>, tensor<2xi32>)
  check.expect_eq_const %0#2, dense<[0, 0]> : tensor<2xi32>
  return
}
func.func @sum_from_negative_zero() {
  %x = stablehlo.constant dense<[-0.0, -0.0]> : tensor<2xf32>
  %z = stablehlo.constant dense<-0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  check.expect_eq_const %0, dense<-0.0> : tensor<f32>
  %p = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%x init: %p) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  check.expect_eq_const %1, dense<0.0> : tensor<f32>
  return
}
func.func @position_of_nothing() {
  %x = stablehlo.constant dense<> : tensor<0xf32>
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zi = stablehlo.constant dense<0> : tensor<i32>
  %io = stablehlo.iota dim = 0 : tensor<0xi32>
  %0:2 = stablehlo.reduce(%x init: %z), (%io init: %zi) across dimensions = [0] : (tensor<0xf32>, tensor<0xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
      %1 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.or %1, %2 : tensor<i1>
      %4 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %5 = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %6 = stablehlo.and %4, %5 : tensor<i1>
      %7 = stablehlo.or %3, %6 : tensor<i1>
      %8 = stablehlo.select %3, %a, %b : tensor<i1>, tensor<f32>
      %9 = stablehlo.select %7, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %8, %9 : tensor<f32>, tensor<i32>
    }
  check.expect_eq_const %0#0, dense<0xFF800000> : tensor<f32>
  check.expect_eq_const %0#1, dense<0> : tensor<i32>
  return
}
// The constant forms as custom calls, and the operation that counts numbers between the two.
func.func @constant_forms() {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  stablehlo.custom_call @check.expect_eq_const(%x) {value = dense<[1.0, 2.0]> : tensor<2xf32>} : (tensor<2xf32>) -> ()
  stablehlo.custom_call @check.expect_almost_eq_const(%x) {value = dense<[1.00009, 2.0]> : tensor<2xf32>} : (tensor<2xf32>) -> ()
  stablehlo.custom_call @check.expect_close_const(%x) {value = dense<[0x3F800003, 0x40000000]> : tensor<2xf32>} : (tensor<2xf32>) -> ()
  check.expect_close_const %x, dense<[0x3F800003, 0x40000000]> : tensor<2xf32>
  check.expect_close_const %x, dense<[0x3F800005, 0x40000005]> : tensor<2xf32> {min_ulp_difference = 5 : i64, max_ulp_difference = 5 : i64}
  "check.expect_close_const"(%x) <{value = dense<[0x3F800003, 0x40000000]> : tensor<2xf32>}> : (tensor<2xf32>) -> ()
  func.return
}
