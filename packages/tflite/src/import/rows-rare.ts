/** The rows of all other operators, and of custom ones; the refusal of those without one. */
import { quote } from "../error.ts";
import type { Lowering } from "./lowering.ts";
import type { CustomRow, Row } from "./row.ts";
import { axisRows } from "./rows/axes.ts";
import { stablehloCase } from "./rows/case.ts";
import { controlFlowRows } from "./rows/control-flow.ts";
import { conversionRows } from "./rows/conversion.ts";
import { customRows as ownCustomRows } from "./rows/detection.ts";
import { elementwiseRows } from "./rows/elementwise.ts";
import { extentRows } from "./rows/extents.ts";
import { lookupRows } from "./rows/lookup.ts";
import { matrixRows } from "./rows/matrices.ts";
import { mediapipeRows } from "./rows/mediapipe.ts";
import { normalisationRows } from "./rows/normalisation.ts";
import { placeRows } from "./rows/places.ts";
import { quantisationRows } from "./rows/quantisation.ts";
import { recurrentRows } from "./rows/recurrent.ts";
import { reductionRows } from "./rows/reduction.ts";
import { resizingRows } from "./rows/resizing.ts";
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
  ...resizingRows,
  ...placeRows,
  ...matrixRows,
  ...lookupRows,
  ...recurrentRows,
  ...controlFlowRows,
  stablehloCase,
  ...stablehloRows,
  ...resourceRows,
];

/** Refuses an operator that has no row, and that the extension does not have either. */
export function refuseUnknown(op: Lowering): never {
  const { name, customCode } = op.operator;
  const which = name === "CUSTOM" ? `the custom operator ${quote(customCode ?? "")}` : `operator ${name}`;
  return op.fail(`the HAL has no counterpart of ${which}`, helpFor(name));
}

/** Remedy for an operator that is not known. */
function helpFor(name: string): string | undefined {
  if (name === "CUSTOM")
    return "give an extension with an operation of its name: --extension, extensions of load, customOperators of importTflite";
  if (name.startsWith("STABLEHLO_")) return "convert the model to the operators of TensorFlow Lite, not to StableHLO";
  return undefined;
}
