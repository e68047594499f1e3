/** One operator in one type, on random elements, on a device and in TensorFlow Lite. */
import { elementAt } from "@nnhal/operations";
import type { QuantisedType } from "./cases.ts";
import { addDifferences, compareElements, type Difference } from "./compare.ts";
import type { deviceRunner } from "./device.ts";
import { bytesOf, type Elements, elementsOf, ranges } from "./elements.ts";
import { modelOf, type TensorGiven, type Variant } from "./model.ts";
import { type OracleEngine, oracleEngines, runOracle } from "./oracle.ts";
import { randomSequence } from "./random.ts";

/** The differences from each build of TensorFlow Lite, or why they are not known. */
export interface MeasuredRow {
  readonly operator: string;
  readonly type: QuantisedType;
  readonly results: Readonly<Record<OracleEngine, Difference | string>>;
  /** The differences of each variant from the first build that runs the operator. */
  readonly variants: readonly Difference[];
}

interface Given {
  readonly operator: string;
  readonly type: QuantisedType;
  readonly variants: readonly Variant[];
  readonly seed: number;
}

/** Random elements of an input. */
function randomElements(type: QuantisedType, { shape, range = ranges[type] }: TensorGiven, seed: number): number[] {
  const next = randomSequence(seed);
  const [least, greatest] = range;
  const count = shape.reduce((product, extent) => product * extent, 1);
  return Array.from({ length: count }, () => Math.floor(least + next() * (greatest - least + 1)));
}

export async function measureOperator(
  run: Awaited<ReturnType<typeof deviceRunner>>,
  { operator, type, variants, seed }: Given,
): Promise<MeasuredRow> {
  const model = modelOf(operator, 1, variants);
  const inputs = variants
    .flatMap((variant) => variant.inputs.filter(({ data }) => data === undefined))
    .map((input, place) => randomElements(type, input, 1000 * seed + place));
  const given = inputs.map((numbers) => bytesOf(type, numbers));
  const actual = await run(
    model,
    given.map((bytes) => elementsOf(type, bytes)) as (Uint8Array | Int8Array | Int16Array)[],
  );
  const measured: Partial<Record<OracleEngine, Difference | string>> = {};
  let perVariant: readonly Difference[] = [];
  for (const engine of oracleEngines) {
    const expected = await runOracle(engine, model, given, variants.length);
    if (typeof actual === "string" || typeof expected === "string") {
      measured[engine] = typeof actual === "string" ? `nnhal: ${actual}` : `TensorFlow Lite: ${expected}`;
      continue;
    }
    const all = expected.map((bytes, place) =>
      // The outputs are of the type that the model has for them.
      compareElements(elementAt(actual, place) as Elements, elementsOf(type, bytes)),
    );
    if (perVariant.length === 0) perVariant = all;
    measured[engine] = addDifferences(all);
  }
  return { operator, type, results: measured as MeasuredRow["results"], variants: perVariant };
}
