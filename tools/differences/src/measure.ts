/** One operator in one type, on random elements, on a device and in TensorFlow Lite. */
import { elementAt } from "@nnhal/operations";
import { addDifferences, compareElements, type Difference } from "./compare.ts";
import type { deviceRunner } from "./device.ts";
import { bytesOf, elementsOf, ranges } from "./elements.ts";
import { modelOf, type TensorGiven, type Variant } from "./model.ts";
import type { QuantisedType } from "./operator-case.ts";
import { type OracleEngine, runOracle } from "./oracle.ts";
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

/** The bytes of random inputs of the variants, in the order of the model's inputs. */
export function inputsOf(type: QuantisedType, variants: readonly Variant[], seed: number): Uint8Array[] {
  return variants
    .flatMap(({ inputs }) => inputs.filter(({ data }) => data === undefined))
    .map((input, place) => bytesOf(type, randomElements(type, input, 1000 * seed + place)));
}

export async function measureOperator(
  run: Awaited<ReturnType<typeof deviceRunner>>,
  { operator, type, variants, seed }: Given,
): Promise<MeasuredRow> {
  const model = modelOf(operator, 1, variants);
  const inputs = inputsOf(type, variants, seed);
  const actual = await run(
    model,
    inputs.map((bytes) => elementsOf(type, bytes)),
  );
  const compared = async (engine: OracleEngine): Promise<readonly Difference[] | string> => {
    if (typeof actual === "string") return `nnhal: ${actual}`;
    const expected = await runOracle(engine, model, inputs, variants.length);
    if (typeof expected === "string") return `TensorFlow Lite: ${expected}`;
    return expected.map((bytes, place) => compareElements(elementAt(actual, place).data, elementsOf(type, bytes)));
  };
  const [litert, tfjs] = [await compared("litert"), await compared("tfjs")];
  const total = (differences: readonly Difference[] | string) =>
    typeof differences === "string" ? differences : addDifferences(differences);
  const variantsOf = [litert, tfjs].find((differences) => typeof differences !== "string");
  return {
    ...{ operator, type },
    results: { litert: total(litert), tfjs: total(tfjs) },
    variants: typeof variantsOf === "object" ? variantsOf : [],
  };
}
