func.func private @a(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.composite"(%x) {callee = @a, name = "my.f", decomposition = @nowhere} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
