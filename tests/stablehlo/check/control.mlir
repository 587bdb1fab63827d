// Written by check_modules.py: what is expected is what StableHLO's reference interpreter computes, or, where it
// lacks an operation, what check_cases.py says.

func.func @if() {
  %p = stablehlo.constant dense<true> : tensor<i1>
  %x = stablehlo.constant dense<3> : tensor<i32>
  %r = "stablehlo.if"(%p) ({
    %a = stablehlo.add %x, %x : tensor<i32>
    stablehlo.return %a : tensor<i32>
   }, {
    stablehlo.return %x : tensor<i32>
   }) : (tensor<i1>) -> tensor<i32>
  check.expect_eq_const %r, dense<6> : tensor<i32>
  func.return
}

func.func @case_clamps() {
  %i = stablehlo.constant dense<-4> : tensor<i32>
  %x = stablehlo.constant dense<3> : tensor<i32>
  %r = "stablehlo.case"(%i) ({
    %a = stablehlo.add %x, %x : tensor<i32>
    stablehlo.return %a : tensor<i32>
   }, {
    stablehlo.return %x : tensor<i32>
   }) : (tensor<i32>) -> tensor<i32>
  check.expect_eq_const %r, dense<3> : tensor<i32>
  func.return
}

func.func @while() {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<7> : tensor<i32>
  %o = stablehlo.constant dense<1> : tensor<i32>
  %k, %r = stablehlo.while(%i = %z, %c = %o) : tensor<i32>, tensor<i32> cond {
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
   } do {
    %j = stablehlo.add %i, %o : tensor<i32>
    %d = stablehlo.add %c, %c : tensor<i32>
    stablehlo.return %j, %d : tensor<i32>, tensor<i32>
   }
  check.expect_eq_const %r, dense<128> : tensor<i32>
  func.return
}
