module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<"0x0000000000000040000000000000F03F"> : tensor<2xf64>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2xf64>
    %1 = stablehlo.add %cst, %0 : tensor<2xf64>
    return %1 : tensor<2xf64>
  }
}
