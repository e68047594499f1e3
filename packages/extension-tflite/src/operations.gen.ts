// Generated from the files in ops/ by `npm run generate`; do not edit.
import { conv2d } from "./ops/conv-2d.ts";
import { depthwiseConv2d } from "./ops/depthwise-conv-2d.ts";
import { fullyConnected } from "./ops/fully-connected.ts";
import { transpose } from "./ops/transpose.ts";
import { transposeConv2d } from "./ops/transpose-conv-2d.ts";

/** Every operation, in the order of the names. */
export const operations = [
  conv2d,
  depthwiseConv2d,
  fullyConnected,
  transpose,
  transposeConv2d,
] as const;
