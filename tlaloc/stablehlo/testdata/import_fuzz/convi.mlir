func.func @main(%x: tensor<1x1x2xf32>, %k: tensor<1x1x1xf32>) -> tensor<1x1x2xi32> {
 %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} : (tensor<1x1x2xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2xi32>
 return %0 : tensor<1x1x2xi32>
}
