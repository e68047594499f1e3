import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { operationTypes } from "@nnhal/types";
import { describe, expect, test } from "vitest";
import { customRows, rows } from "./import/rows.ts";
import { builtinOperators } from "./schema/builtin-operators.ts";

const page = fileURLToPath(new URL("../../../docs/tflite.md", import.meta.url));
const begin = "<!-- operators: written by packages/tflite/src/docs.test.ts (vitest -u) -->\n";
const end = "<!-- end of operators -->";

/** The rows as a table, in the order of the operators' names. */
function operatorTable(): string {
  const named = customRows.map(({ customCode, ...row }) => ({ ...row, operator: customCode }));
  const lines = [...rows, ...named]
    .toSorted((a, b) => (a.operator < b.operator ? -1 : 1))
    .map(
      ({ operator, version, operations, note = "" }) =>
        `| ${operator} | ${version} | ${operations.join(", ")} | ${note} |`,
    );
  return ["| operator | up to version | HAL operations | |", "|---|---|---|---|", ...lines, ""].join("\n");
}

describe("docs/tflite.md", () => {
  test("lists the rows", async () => {
    const text = readFileSync(page, "utf8");
    const [before, rest] = text.split(begin);
    const [, after] = (rest ?? "").split(end);
    await expect(`${before}${begin}\n${operatorTable()}\n${end}${after}`).toMatchFileSnapshot(page);
  });
});

describe("rows", () => {
  test("are of builtin operators, each once", () => {
    const operators = rows.map(({ operator }) => operator);
    const known = new Set(builtinOperators.map(({ name }) => name));
    expect(operators.filter((operator) => !known.has(operator))).toEqual([]);
    expect(new Set(operators).size).toBe(operators.length);
  });

  test("cover every HAL operation that has a builtin operator", () => {
    const covered = new Set<string>([...rows, ...customRows].flatMap(({ operations }) => operations));
    const others = Object.keys(operationTypes).filter((operation) => !covered.has(operation));
    expect(others).toEqual([
      "AXIS_ALIGNED_BBOX_TRANSFORM",
      "BOX_WITH_NMS_LIMIT",
      "CHANNEL_SHUFFLE",
      "GENERATE_PROPOSALS",
      "HEATMAP_MAX_KEYPOINT",
      "INSTANCE_NORMALIZATION",
      // The basic kernel of LSTM: its weights are one matrix, which the HAL has in eight.
      "QUANTIZED_16BIT_LSTM",
      "RANDOM_MULTINOMIAL",
      "ROI_ALIGN",
      "ROI_POOLING",
      "OEM_OPERATION",
    ]);
  });
});
