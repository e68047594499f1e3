/** The operations that this engine has, by name. */
import { arithmetic } from "./arithmetic.ts";
import { convolutions } from "./convolution.ts";
import type { LoweringTable } from "./lowering.ts";
import { movement } from "./movement.ts";
import { pooling } from "./pooling.ts";
import { reductions } from "./reduction.ts";
import { resizing } from "./resize.ts";
import { softmax } from "./softmax.ts";
import { unary } from "./unary.ts";

/** Every lowering. */
export const lowerings: LoweringTable = {
  ...arithmetic,
  ...convolutions,
  ...movement,
  ...pooling,
  ...reductions,
  ...resizing,
  ...softmax,
  ...unary,
};
