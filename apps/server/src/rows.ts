/** Test of a network for independent rows of a batch, which makes requests joinable: found from its results. */
import { joinInputs } from "./batches.ts";
import { arrayOf, type Datatype } from "./datatypes.ts";
import { messageOf } from "./errors.ts";
import type { ModelDescription, Runner } from "./runner.ts";
import { bytesOf, countOf, isByteList, type Tensor } from "./tensors.ts";

/** Extents to try for open axes except the first, until the network computes with them. */
const triedExtents = [1, 32, 224];

/** Returns the reason why requests cannot be joined along the first axis; undefined: they can be. */
export async function whyNotJoined(runner: Runner): Promise<string | undefined> {
  const { inputs, outputs, hasState } = runner.description;
  if (hasState) return "the model has state";
  const isOpen = inputs.length > 0 && [...inputs, ...outputs].every(({ shape }) => shape[0] === -1);
  if (!isOpen) return "an input or output has no open first extent";
  const failures: string[] = [];
  for (const extent of triedExtents) {
    try {
      return await whyNotIndependent(runner, extent);
    } catch (error) {
      failures.push(messageOf(error));
    }
  }
  return `whether each row is computed for itself cannot be checked: ${failures[0]}`;
}

/**
 * Computes two rows, then with another first row, then with another second row: the results of the unchanged row must stay
 * equal, to the bit, since the same kernels compute on the same extents. A mean, a maximum or a softmax over the rows is
 * detected.
 */
async function whyNotIndependent(runner: Runner, extent: number): Promise<string | undefined> {
  const { description } = runner;
  const [first, second, third, fourth] = [1, 2, 3, 4].map((seed) => rowOf(description, extent, seed));
  if (first === undefined || second === undefined || third === undefined || fourth === undefined) return undefined;
  const compute = (...rows: (readonly Tensor[])[]) => runner.run(joinInputs(rows), {});
  const base = await compute(first, second);
  const changed = [await compute(third, second), await compute(first, fourth)];
  for (const [place, output] of base.entries()) {
    if (output.shape[0] !== 2)
      return `the output "${output.name}" has ${output.shape[0] ?? "no"} rows for 2 rows of inputs`;
    for (const [row, other] of changed.entries()) {
      const kept = 1 - row;
      const now = other[place];
      if (now === undefined || !isEqualRow(output, now, kept)) {
        return `a row of the output "${output.name}" depends on other rows of the inputs`;
      }
    }
  }
  return undefined;
}

/** Inputs of one row with elements that depend on a seed. */
function rowOf({ inputs }: ModelDescription, extent: number, seed: number): readonly Tensor[] {
  return inputs.map(({ name, datatype, shape: open }) => {
    const shape = open.map((known, axis) => (axis === 0 ? 1 : known < 0 ? extent : known));
    return { name, datatype, shape, content: elementsOf(datatype, countOf(shape), seed) };
  });
}

function elementsOf(datatype: Datatype, count: number, seed: number): Tensor["content"] {
  const random = randomFrom(seed);
  if (datatype === "BYTES") return Array.from({ length: count }, () => Uint8Array.of(97 + Math.floor(4 * random())));
  const elements = new (arrayOf(datatype))(count);
  if (elements instanceof BigInt64Array || elements instanceof BigUint64Array) {
    return elements.map(() => BigInt(Math.floor(2 * random())));
  }
  // Bits of FP16 from 0.5 to 1. Wide integers may be indexes of a table, so they are small.
  if (datatype === "FP16") return elements.map(() => 0x3800 + Math.floor(0x400 * random()));
  if (datatype === "FP32" || datatype === "FP64") return elements.map(() => 2 * random() - 1);
  if (datatype === "UINT8") return elements.map(() => Math.floor(256 * random()));
  if (datatype === "INT8") return elements.map(() => Math.floor(256 * random()) - 128);
  return elements.map(() => Math.floor(2 * random()));
}

/** Returns a source of numbers from 0 to 1, the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1);
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) | 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}

function isEqualRow(left: Tensor, right: Tensor, row: number): boolean {
  if (left.shape.join() !== right.shape.join()) return false;
  const [one, other] = [rowBytes(left, row), rowBytes(right, row)];
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

function rowBytes({ content, shape }: Tensor, row: number): Uint8Array {
  const count = countOf(shape.slice(1));
  const [from, to] = [row * count, (row + 1) * count];
  return bytesOf({ content: isByteList(content) ? content.slice(from, to) : content.subarray(from, to) });
}
