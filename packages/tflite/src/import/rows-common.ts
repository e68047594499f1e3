/** The rows of operators that most models have. */
import type { Row } from "./row.ts";
import { activationRows } from "./rows/activation.ts";
import { arithmeticRows } from "./rows/arithmetic.ts";
import { convolutionRows } from "./rows/convolution.ts";
import { mean } from "./rows/mean.ts";
import { poolingRows } from "./rows/pooling.ts";
import { shapeRows } from "./rows/shape.ts";

export const commonRows: readonly Row[] = [
  ...arithmeticRows,
  ...activationRows,
  ...convolutionRows,
  ...poolingRows,
  ...shapeRows,
  mean,
];
