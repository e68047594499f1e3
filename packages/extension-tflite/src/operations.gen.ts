// Generated from the files in ops/ by `npm run generate`; do not edit.
import { abs } from "./ops/abs.ts";
import { add } from "./ops/add.ts";
import { atan2 } from "./ops/atan2.ts";
import { bitwiseXor } from "./ops/bitwise-xor.ts";
import { ceil } from "./ops/ceil.ts";
import { cos } from "./ops/cos.ts";
import { div } from "./ops/div.ts";
import { elu } from "./ops/elu.ts";
import { exp } from "./ops/exp.ts";
import { floor } from "./ops/floor.ts";
import { floorDiv } from "./ops/floor-div.ts";
import { floorMod } from "./ops/floor-mod.ts";
import { gelu } from "./ops/gelu.ts";
import { leakyRelu } from "./ops/leaky-relu.ts";
import { log } from "./ops/log.ts";
import { logistic } from "./ops/logistic.ts";
import { maximum } from "./ops/maximum.ts";
import { minimum } from "./ops/minimum.ts";
import { mul } from "./ops/mul.ts";
import { neg } from "./ops/neg.ts";
import { pow } from "./ops/pow.ts";
import { prelu } from "./ops/prelu.ts";
import { relu } from "./ops/relu.ts";
import { relu0To1 } from "./ops/relu-0-to-1.ts";
import { relu1 } from "./ops/relu1.ts";
import { relu6 } from "./ops/relu6.ts";
import { rightShift } from "./ops/right-shift.ts";
import { round } from "./ops/round.ts";
import { rsqrt } from "./ops/rsqrt.ts";
import { sign } from "./ops/sign.ts";
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
  atan2,
  bitwiseXor,
  ceil,
  cos,
  div,
  elu,
  exp,
  floor,
  floorDiv,
  floorMod,
  gelu,
  leakyRelu,
  log,
  logistic,
  maximum,
  minimum,
  mul,
  neg,
  pow,
  prelu,
  relu,
  relu0To1,
  relu1,
  relu6,
  rightShift,
  round,
  rsqrt,
  sign,
  sqrt,
  square,
  squaredDifference,
  sub,
  tanh,
  transpose,
] as const;
