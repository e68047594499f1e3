/**
 * All mapping rows, and the row of an operator.
 */
import type { TfliteOperator } from "../model.ts";
import type { CustomRow, Row } from "./row.ts";
import { activationRows } from "./rows/activation.ts";
import { controlFlowRows } from "./rows/control-flow.ts";
import { convolutionRows } from "./rows/convolution.ts";
import { customRows } from "./rows/detection.ts";
import { elementwiseRows } from "./rows/elementwise.ts";
import { lookupRows } from "./rows/lookup.ts";
import { placeRows } from "./rows/places.ts";
import { poolingRows } from "./rows/pooling.ts";
import { quantisationRows } from "./rows/quantisation.ts";
import { recurrentRows } from "./rows/recurrent.ts";
import { reductionRows } from "./rows/reduction.ts";
import { resourceRows } from "./rows/resource.ts";
import { shapeRows } from "./rows/shape.ts";
import { sliceRows } from "./rows/slice.ts";
import { spaceRows } from "./rows/space.ts";

/** How each builtin operator that can be imported becomes HAL operations. */
export { customRows };

export const rows: readonly Row[] = [
  ...elementwiseRows,
  ...activationRows,
  ...convolutionRows,
  ...poolingRows,
  ...quantisationRows,
  ...shapeRows,
  ...sliceRows,
  ...spaceRows,
  ...placeRows,
  ...reductionRows,
  ...lookupRows,
  ...recurrentRows,
  ...controlFlowRows,
  ...resourceRows,
];

const rowsByOperator: ReadonlyMap<string, Row> = new Map(rows.map((row) => [row.operator, row]));

const customRowsByName: ReadonlyMap<string, CustomRow> = new Map(customRows.map((row) => [row.customCode, row]));

/** The row of an operator; undefined if it cannot be imported. */
export function rowOf({
  name,
  customCode = "",
}: Pick<TfliteOperator, "name" | "customCode">): Omit<Row, "operator"> | undefined {
  return name === "CUSTOM" ? customRowsByName.get(customCode) : rowsByOperator.get(name);
}
