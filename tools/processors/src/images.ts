/**
 * Further images for packed convolutions: where preparing a layer takes most of its time, each layer computes several images. The reference
 * on the host computes the expected results.
 */
import { type Example, type ExampleOperand, modelOf, modelRunner } from "@nnhal/conformance";
import { elementAt, integerRange } from "@nnhal/operations";
import type { Device } from "@nnhal/types";

/** Packed convolutions and the images that they compute. */
export interface Pack {
  readonly example: Example;
  /** The values of operands in each run after the first one, by the operands' indexes; the others are as the example says. */
  readonly images: readonly ReadonlyMap<number, Uint8Array>[];
}

/** The pack with `count` images in all for each of its convolutions. The images become inputs of the model. */
export async function withImages(pack: Example, count: number, reference: Device): Promise<Pack> {
  if (count === 1) return { example: pack, images: [] };
  const example = withImagesAsInputs(pack);
  const { operands, inputIndexes, outputIndexes } = example.main;
  const run = await modelRunner(modelOf({ example, name: example.name, unspecifiedOutputs: false }), [reference]);
  const images: ReadonlyMap<number, Uint8Array>[] = [];
  for (let turn = 1; turn < count; turn++) {
    const values = new Map(
      imagesOf(example).map((index) => [index, drawImage(elementAt(operands, index), turn, index)]),
    );
    const outputs = await run(inputIndexes.map((index) => values.get(index) ?? dataOf(operands, index)));
    for (const [place, index] of outputIndexes.entries()) values.set(index, elementAt(outputs, place));
    images.push(values);
  }
  return { example, images };
}

/** The value of an operand in a run of a pack. */
export function valueIn(
  values: ReadonlyMap<number, Uint8Array> | undefined,
  example: Example,
  index: number,
): Uint8Array {
  return values?.get(index) ?? dataOf(example.main.operands, index);
}

function dataOf(operands: readonly ExampleOperand[], index: number): Uint8Array {
  return elementAt(operands, index).data ?? new Uint8Array(0);
}

function imagesOf({ main }: Example): number[] {
  return main.operations.map(({ inputs }) => elementAt(inputs, 0));
}

function withImagesAsInputs(example: Example): Example {
  const images = new Set(imagesOf(example));
  const { operands, inputIndexes } = example.main;
  return {
    ...example,
    main: {
      ...example.main,
      operands: operands.map((operand, index) =>
        images.has(index) ? { ...operand, lifetime: "SUBGRAPH_INPUT" as const } : operand,
      ),
      inputIndexes: [...new Set([...inputIndexes, ...images])],
    },
  };
}

/** The elements of the image in another order, elements at both limits, or any elements, in turn. */
function drawImage(operand: ExampleOperand, turn: number, index: number): Uint8Array {
  const [least, greatest] = integerRange(operand.type);
  const random = randomIntegers(Math.imul(turn, 0x9e37_79b1) ^ index);
  const bytes = Uint8Array.from(operand.data ?? []);
  if (turn % 3 === 0) {
    for (let last = bytes.length - 1; last > 0; last--) {
      const other = random(last + 1);
      [bytes[last], bytes[other]] = [elementAt(bytes, other), elementAt(bytes, last)];
    }
    return bytes;
  }
  return bytes.map(() => (turn % 3 === 1 ? [least, greatest][random(2)] : least + random(greatest - least + 1)) ?? 0);
}

/** Integers below a bound, from a seed: an image follows from its number. */
function randomIntegers(seed: number): (bound: number) => number {
  let state = seed | 1;
  return (bound) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % bound;
  };
}
