func.func @main(%x: tensor<0x0xf32>) -> tensor<i32> {
 %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%x) : (tensor<0x0xf32>) -> (tensor<0x0xf32>, tensor<0xi32>, tensor<i32>)
 return %0#2 : tensor<i32>
}
