/** Packed convolutions on a device. */
import { type Example, modelOf, modelRunner } from "@nnhal/conformance";
import { elementAt } from "@nnhal/operations";
import { type Device, ErrorStatus } from "@nnhal/types";
import { type Pack, valueIn } from "../images.ts";
import type { Tally } from "../result.ts";
import { differenceOf } from "./difference.ts";

const listed = 5;

/**
 * Runs packs of operations with one output each, for `images` images each at most. Each image of an operation counts; it has failed if an
 * element is more than a step off. If the device refuses one of a pack, the others run without it.
 */
export async function runConvolutions(device: Device, packs: readonly Pack[], images = 1): Promise<Tally> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const problems: string[] = [];
  for (const pack of packs) {
    const { example, images: further } = await supportedPart(device, pack);
    const runs = [undefined, ...further.slice(0, images - 1)];
    counts.skipped += (pack.example.main.operations.length - example.main.operations.length) * runs.length;
    const { operations, operands, inputIndexes, outputIndexes } = example.main;
    if (operations.length === 0) continue;
    const run = await modelRunner(modelFor(example), [device]);
    for (const values of runs) {
      const outputs = await run(inputIndexes.map((index) => valueIn(values, example, index)));
      for (const [place, index] of outputIndexes.entries()) {
        const isSigned = elementAt(operands, index).type === "TENSOR_QUANT8_ASYMM_SIGNED";
        const problem = differenceOf(elementAt(outputs, place), valueIn(values, example, index), isSigned);
        if (problem === undefined) counts.passed++;
        else if (++counts.failed <= listed) problems.push(`${describe(example, index)}: ${problem}`);
      }
    }
  }
  return { ...counts, problems };
}

function modelFor(example: Example) {
  return modelOf({ example, name: example.name, unspecifiedOutputs: false });
}

/** The pack without the operations that a device refuses. */
async function supportedPart(device: Device, whole: Pack): Promise<Pack> {
  const { example: pack } = whole;
  const { status, supported, message } = await device.getSupportedOperations(modelFor(pack));
  if (status !== ErrorStatus.NONE) throw new Error(`getSupportedOperations: ${message}`);
  if (!supported.includes(false)) return whole;
  const operations = pack.main.operations.filter((_, place) => supported[place]);
  const used = new Set(operations.flatMap(({ inputs, outputs }) => [...inputs, ...outputs]));
  const kept = [...used].sort((a, b) => a - b);
  const placeOf = new Map(kept.map((index, place) => [index, place]));
  const move = (indexes: readonly number[]) => indexes.flatMap((index) => placeOf.get(index) ?? []);
  const example = {
    ...pack,
    name: namesOf(pack)
      .filter((_, place) => supported[place])
      .join(" "),
    main: {
      operands: kept.map((index) => elementAt(pack.main.operands, index)),
      inputIndexes: move(pack.main.inputIndexes),
      outputIndexes: move(pack.main.outputIndexes),
      operations: operations.map((each) => ({ ...each, inputs: move(each.inputs), outputs: move(each.outputs) })),
    },
  };
  const keptOf = (values: ReadonlyMap<number, Uint8Array>) =>
    new Map([...values].flatMap(([index, value]) => move([index]).map((place) => [place, value] as const)));
  return { example, images: whole.images.map(keptOf) };
}

/** The names of the examples of a pack, one for each operation. */
function namesOf({ name }: Example): string[] {
  return name.split(" ");
}

/** The operation that makes an output, with the types and extents of its first two operands. */
function describe(example: Example, output: number): string {
  const { main } = example;
  const place = main.operations.findIndex(({ outputs }) => outputs.includes(output));
  const { type, inputs } = elementAt(main.operations, place);
  const [input, weights] = inputs.map((index) => elementAt(main.operands, index));
  const shown = [input, weights].map((each) => each && `${each.type} [${each.dimensions.join(", ")}]`);
  return `${namesOf(example)[place]} ${type} of ${shown.join(" and ")}`;
}
