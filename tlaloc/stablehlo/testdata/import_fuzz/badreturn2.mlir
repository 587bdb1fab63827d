func.func @main(%x: tensor<f32>) -> tensor<f32> {
 foo.myreturn %x : tensor<f32>
}
