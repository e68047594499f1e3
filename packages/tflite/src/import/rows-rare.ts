/** The rows of all other operators, and of custom ones. */
import type { CustomRow, Row } from "./row.ts";
import { axisRows } from "./rows/axes.ts";
import { stablehloCase } from "./rows/case.ts";
import { controlFlowRows } from "./rows/control-flow.ts";
import { conversionRows } from "./rows/conversion.ts";
import { customRows as ownCustomRows } from "./rows/detection.ts";
import { elementwiseRows } from "./rows/elementwise.ts";
import { extentRows } from "./rows/extents.ts";
import { lookupRows } from "./rows/lookup.ts";
import { mediapipeRows } from "./rows/mediapipe.ts";
import { normalisationRows } from "./rows/normalisation.ts";
import { placeRows } from "./rows/places.ts";
import { quantisationRows } from "./rows/quantisation.ts";
import { recurrentRows } from "./rows/recurrent.ts";
import { reductionRows } from "./rows/reduction.ts";
import { resourceRows } from "./rows/resource.ts";
import { sliceRows } from "./rows/slice.ts";
import { spaceRows } from "./rows/space.ts";
import { stablehloRows } from "./rows/stablehlo.ts";
import { transposeConvolution } from "./rows/transpose-convolution.ts";

export const customRows: readonly CustomRow[] = [...ownCustomRows, ...mediapipeRows];

export const rows: readonly Row[] = [
  ...normalisationRows,
  transposeConvolution,
  ...reductionRows,
  ...quantisationRows,
  ...conversionRows,
  ...axisRows,
  ...extentRows,
  ...elementwiseRows,
  ...sliceRows,
  ...spaceRows,
  ...placeRows,
  ...lookupRows,
  ...recurrentRows,
  ...controlFlowRows,
  stablehloCase,
  ...stablehloRows,
  ...resourceRows,
];
