func.func @main(%x: tensor<?x9223372036854775807xf32>) -> tensor<?x9223372036854775807xf32> {
  return %x : tensor<?x9223372036854775807xf32>
}
