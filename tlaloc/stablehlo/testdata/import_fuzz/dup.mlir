func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xi32> {
  %0 = "stablehlo.iota"() <{iota_dimension = 0 : i64, iota_dimension = 1 : i64}> : () -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}
