func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
 %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 4294967296 : i64, replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<3xf32>) -> tensor<3xf32>
 return %0 : tensor<3xf32>
}
