func.func @main() -> (tensor<i8>, tensor<ui8>, tensor<i8>, tensor<3xi1>, tensor<8xi1>, tensor<bf16>, tensor<f16>, tensor<i1>, tensor<2xi16>) {
  %0 = stablehlo.constant dense<255> : tensor<i8>
  %1 = stablehlo.constant dense<-1> : tensor<ui8>
  %2 = stablehlo.constant dense<0x80> : tensor<i8>
  %3 = stablehlo.constant dense<"0x05"> : tensor<3xi1>
  %4 = stablehlo.constant dense<"0xFF"> : tensor<8xi1>
  %5 = stablehlo.constant dense<0x3F80> : tensor<bf16>
  %6 = stablehlo.constant dense<0x3C00> : tensor<f16>
  %7 = stablehlo.constant dense<-1> : tensor<i1>
  %8 = stablehlo.constant dense<"0x01000200"> : tensor<2xi16>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<i8>, tensor<ui8>, tensor<i8>, tensor<3xi1>, tensor<8xi1>, tensor<bf16>, tensor<f16>, tensor<i1>, tensor<2xi16>
}
