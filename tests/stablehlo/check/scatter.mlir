// Written by check_modules.py: what is expected is what StableHLO's reference interpreter computes, or, where it
// lacks an operation, what check_cases.py says.

func.func @scatter_add() {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %i = stablehlo.constant dense<[[2], [9], [2]]> : tensor<3x1xi32>
  %u = stablehlo.constant dense<[5, 6, -7]> : tensor<3xi32>
  %r = "stablehlo.scatter"(%x, %i,
      %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
   ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %c : tensor<i32>
   }) : (tensor<4xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<4xi32>
  check.expect_eq_const %r, dense<[1, 2, 1, 4]> : tensor<4xi32>
  func.return
}

func.func @scatter_multiply() {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %i = stablehlo.constant dense<[[2], [9], [2]]> : tensor<3x1xi32>
  %u = stablehlo.constant dense<[5, 6, -7]> : tensor<3xi32>
  %r = "stablehlo.scatter"(%x, %i,
      %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
   ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.multiply %a, %b : tensor<i32>
    stablehlo.return %c : tensor<i32>
   }) : (tensor<4xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<4xi32>
  check.expect_eq_const %r, dense<[1, 2, -105, 4]> : tensor<4xi32>
  func.return
}

func.func @scatter_maximum() {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %i = stablehlo.constant dense<[[2], [9], [2]]> : tensor<3x1xi32>
  %u = stablehlo.constant dense<[5, 6, -7]> : tensor<3xi32>
  %r = "stablehlo.scatter"(%x, %i,
      %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
   ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.maximum %a, %b : tensor<i32>
    stablehlo.return %c : tensor<i32>
   }) : (tensor<4xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<4xi32>
  check.expect_eq_const %r, dense<[1, 2, 5, 4]> : tensor<4xi32>
  func.return
}

func.func @scatter_minimum() {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %i = stablehlo.constant dense<[[2], [9], [2]]> : tensor<3x1xi32>
  %u = stablehlo.constant dense<[5, 6, -7]> : tensor<3xi32>
  %r = "stablehlo.scatter"(%x, %i,
      %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
   ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.minimum %a, %b : tensor<i32>
    stablehlo.return %c : tensor<i32>
   }) : (tensor<4xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<4xi32>
  check.expect_eq_const %r, dense<[1, 2, -7, 4]> : tensor<4xi32>
  func.return
}

func.func @scatter_set() {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %i = stablehlo.constant dense<[[2], [9], [0]]> : tensor<3x1xi32>
  %u = stablehlo.constant dense<[5, 6, -7]> : tensor<3xi32>
  %r = "stablehlo.scatter"(%x, %i,
      %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
   ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %b : tensor<i32>
   }) : (tensor<4xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<4xi32>
  check.expect_eq_const %r, dense<[-7, 2, 5, 4]> : tensor<4xi32>
  func.return
}
