/** The rows of operators that most models have. */
import type { Row } from "./row.ts";
import { activationRows } from "./rows/activation.ts";
import { convolutionRows } from "./rows/convolution.ts";
import { elementwiseRows } from "./rows/elementwise.ts";
import { poolingRows } from "./rows/pooling.ts";
import { quantisationRows } from "./rows/quantisation.ts";
import { reductionRows } from "./rows/reduction.ts";
import { shapeRows } from "./rows/shape.ts";

export const commonRows: readonly Row[] = [
  ...elementwiseRows,
  ...activationRows,
  ...convolutionRows,
  ...poolingRows,
  ...quantisationRows,
  ...shapeRows,
  ...reductionRows,
];
