func.func @main(%x: tensor<1x1x4xf32>, %k: tensor<1x1x2xf32>) -> tensor<1x1x3xf32> {
 %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {strid = [2]} : (tensor<1x1x4xf32>, tensor<1x1x2xf32>) -> tensor<1x1x3xf32>
 return %0 : tensor<1x1x3xf32>
}
