/** The operations that this engine has, by name. */
import { arithmetic } from "./arithmetic.ts";
import { casting } from "./casting.ts";
import { convolutions } from "./convolution.ts";
import { deferredLowerings } from "./deferred.ts";
import { divisions } from "./division.ts";
import { grouped } from "./grouped.ts";
import type { Lowerings, LoweringTable } from "./lowering.ts";
import { movement } from "./movement.ts";
import { pooling } from "./pooling.ts";
import { reductions } from "./reduction.ts";
import { resizing } from "./resize.ts";
import { softmax } from "./softmax.ts";
import { transcendental } from "./transcendental.ts";
import { unary } from "./unary.ts";

const table: LoweringTable = {
  ...arithmetic,
  ...casting,
  ...convolutions,
  ...deferredLowerings,
  ...divisions,
  ...grouped,
  ...movement,
  ...pooling,
  ...reductions,
  ...resizing,
  ...softmax,
  ...transcendental,
  ...unary,
};

/** Those of the HAL's operations. */
export const halLowerings: Lowerings = ({ name, extension }) => {
  if (extension !== undefined) return undefined;
  // A lowering is only called with the arguments of the operation that it is listed under.
  return (table as Readonly<Record<string, ReturnType<Lowerings>>>)[name];
};
