!t = tensor<2xf32>
!t = tensor<3xf32>
func.func @main(%x: !t) -> !t { return %x : !t }
