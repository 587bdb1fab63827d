func.func @main(%x: tensor<?xf32>) -> tensor<i1> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %c = stablehlo.constant dense<261> : tensor<i32>
  %c8 = stablehlo.convert %c : (tensor<i32>) -> tensor<i8>
  %n8 = stablehlo.convert %n : (tensor<i32>) -> tensor<i8>
  %p = stablehlo.compare GE, %n8, %c8, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%p) {error_message = "at least 5"} : (tensor<i1>) -> ()
  return %p : tensor<i1>
}
