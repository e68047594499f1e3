/**
 * The row of an operator: how it becomes HAL operations.
 */
import type { TfliteOperator } from "../model.ts";
import { rareRows } from "./rare-rows.ts";
import type { CustomRow, Row } from "./row.ts";
import { commonRows } from "./rows-common.ts";

const commonByOperator: ReadonlyMap<string, Row> = new Map(commonRows.map((row) => [row.operator, row]));

interface RareRows {
  readonly byOperator: ReadonlyMap<string, Row>;
  readonly byCustomCode: ReadonlyMap<string, CustomRow>;
}

let rare: RareRows | undefined;

function rareByName(): RareRows {
  if (rare !== undefined) return rare;
  const { rows, customRows } = rareRows();
  rare = {
    byOperator: new Map(rows.map((row) => [row.operator, row])),
    byCustomCode: new Map(customRows.map((row) => [row.customCode, row])),
  };
  return rare;
}

/** The row of an operator; undefined if it cannot be imported. In a browser: throws a NotLoadedError if rare rows are not loaded. */
export function rowOf({
  name,
  customCode = "",
}: Pick<TfliteOperator, "name" | "customCode">): Omit<Row, "operator"> | undefined {
  if (name === "CUSTOM") return rareByName().byCustomCode.get(customCode);
  return commonByOperator.get(name) ?? rareByName().byOperator.get(name);
}
