// Generated from the files in ops/ by `npm run generate`; do not edit.
import { abs } from "./ops/abs.ts";
import { add } from "./ops/add.ts";
import { addN } from "./ops/add-n.ts";
import { atan2 } from "./ops/atan2.ts";
import { bitwiseXor } from "./ops/bitwise-xor.ts";
import { ceil } from "./ops/ceil.ts";
import { complexAbs } from "./ops/complex-abs.ts";
import { cos } from "./ops/cos.ts";
import { dequantize } from "./ops/dequantize.ts";
import { div } from "./ops/div.ts";
import { elu } from "./ops/elu.ts";
import { equal } from "./ops/equal.ts";
import { exp } from "./ops/exp.ts";
import { fakeQuant } from "./ops/fake-quant.ts";
import { floor } from "./ops/floor.ts";
import { floorDiv } from "./ops/floor-div.ts";
import { floorMod } from "./ops/floor-mod.ts";
import { gelu } from "./ops/gelu.ts";
import { greater } from "./ops/greater.ts";
import { greaterEqual } from "./ops/greater-equal.ts";
import { imag } from "./ops/imag.ts";
import { leakyRelu } from "./ops/leaky-relu.ts";
import { less } from "./ops/less.ts";
import { lessEqual } from "./ops/less-equal.ts";
import { log } from "./ops/log.ts";
import { logSoftmax } from "./ops/log-softmax.ts";
import { logistic } from "./ops/logistic.ts";
import { maximum } from "./ops/maximum.ts";
import { mean } from "./ops/mean.ts";
import { minimum } from "./ops/minimum.ts";
import { mul } from "./ops/mul.ts";
import { multinomial } from "./ops/multinomial.ts";
import { neg } from "./ops/neg.ts";
import { notEqual } from "./ops/not-equal.ts";
import { pow } from "./ops/pow.ts";
import { prelu } from "./ops/prelu.ts";
import { quantize } from "./ops/quantize.ts";
import { randomStandardNormal } from "./ops/random-standard-normal.ts";
import { randomUniform } from "./ops/random-uniform.ts";
import { real } from "./ops/real.ts";
import { reduceAll } from "./ops/reduce-all.ts";
import { reduceAny } from "./ops/reduce-any.ts";
import { reduceMax } from "./ops/reduce-max.ts";
import { reduceMin } from "./ops/reduce-min.ts";
import { reduceProd } from "./ops/reduce-prod.ts";
import { reduceSum } from "./ops/reduce-sum.ts";
import { relu } from "./ops/relu.ts";
import { relu0To1 } from "./ops/relu-0-to-1.ts";
import { relu1 } from "./ops/relu1.ts";
import { relu6 } from "./ops/relu6.ts";
import { rfft2d } from "./ops/rfft2d.ts";
import { rightShift } from "./ops/right-shift.ts";
import { round } from "./ops/round.ts";
import { rsqrt } from "./ops/rsqrt.ts";
import { sign } from "./ops/sign.ts";
import { softmax } from "./ops/softmax.ts";
import { sqrt } from "./ops/sqrt.ts";
import { square } from "./ops/square.ts";
import { squaredDifference } from "./ops/squared-difference.ts";
import { sub } from "./ops/sub.ts";
import { tanh } from "./ops/tanh.ts";
import { transpose } from "./ops/transpose.ts";

/** Every operation, in the order of the names. */
export const operations = [
  abs,
  add,
  addN,
  atan2,
  bitwiseXor,
  ceil,
  complexAbs,
  cos,
  dequantize,
  div,
  elu,
  equal,
  exp,
  fakeQuant,
  floor,
  floorDiv,
  floorMod,
  gelu,
  greater,
  greaterEqual,
  imag,
  leakyRelu,
  less,
  lessEqual,
  log,
  logSoftmax,
  logistic,
  maximum,
  mean,
  minimum,
  mul,
  multinomial,
  neg,
  notEqual,
  pow,
  prelu,
  quantize,
  randomStandardNormal,
  randomUniform,
  real,
  reduceAll,
  reduceAny,
  reduceMax,
  reduceMin,
  reduceProd,
  reduceSum,
  relu,
  relu0To1,
  relu1,
  relu6,
  rfft2d,
  rightShift,
  round,
  rsqrt,
  sign,
  softmax,
  sqrt,
  square,
  squaredDifference,
  sub,
  tanh,
  transpose,
] as const;
