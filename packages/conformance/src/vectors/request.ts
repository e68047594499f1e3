/**
 * From an example to the request that a device executes: its inputs in one pool, room for its outputs in another. The
 * output pool is filled with a pattern and has gaps between the outputs, so that a byte that a device wrote without
 * permission, or did not write, is found.
 */
import { elementAt } from "@nnhal/operations";
import type { Request, RequestArgument } from "@nnhal/types";
import type { Example } from "./example.ts";
import { allocateShared, createLayout } from "./layout.ts";

/** A request and what its pools hold after the execution. */
export interface VectorRequest {
  readonly request: Request;
  /** A copy of an output's bytes as they are now. */
  outputBytes(index: number): Uint8Array;
  /** Returns in words the damage that the device did outside of the outputs; undefined if there is none. */
  findDamage(): string | undefined;
}

const inputPool = 0;
const outputPool = 1;
const filler = 0xcd;
const gap = 8;

const omitted: RequestArgument = {
  hasNoValue: true,
  location: { poolIndex: 0, offset: 0, length: 0 },
  dimensions: [],
};

/** Builds the request of an example. Each call makes new pools. */
export function requestOf({ main }: Example): VectorRequest {
  const inputLayout = createLayout(inputPool);
  const inputs = main.inputIndexes.map((index): RequestArgument => {
    const { data, isUnspecified, dimensions } = elementAt(main.operands, index);
    if (data === null) return omitted;
    return { hasNoValue: false, location: inputLayout.add(data), dimensions: isUnspecified ? dimensions : [] };
  });
  const inputMemory = allocateShared(inputLayout.size);
  inputLayout.copyTo(inputMemory.bytes);
  const originalInputs = Buffer.from(inputMemory.bytes);

  const outputLayout = createLayout(outputPool);
  const outputs = main.outputIndexes.map((index): RequestArgument => {
    // An output without elements gets a byte too: no bytes at all would say that the output is omitted.
    const length = Math.max(1, elementAt(main.operands, index).data?.length ?? 0);
    return { hasNoValue: false, location: outputLayout.reserve(length, gap), dimensions: [] };
  });
  const outputMemory = allocateShared(outputLayout.size);
  outputMemory.bytes.fill(filler);

  const pools = [inputMemory, outputMemory].map(({ memory }) => ({ kind: "memory", memory }) as const);
  return {
    request: { inputs, outputs, pools },
    outputBytes(index) {
      const { offset, length } = elementAt(outputs, index).location;
      return new Uint8Array(outputMemory.bytes.subarray(offset, offset + length));
    },
    findDamage() {
      const input = inputMemory.bytes.findIndex((byte, index) => byte !== originalInputs[index]);
      if (input >= 0) return `byte ${input} of the input pool was changed`;
      for (const [index, { location }] of outputs.entries()) {
        const end = location.offset + location.length;
        const next = outputs[index + 1]?.location.offset ?? outputMemory.bytes.length;
        const after = outputMemory.bytes.subarray(end, next).findIndex((byte) => byte !== filler);
        if (after >= 0) return `the byte ${after} after the end of output ${index} was written`;
      }
      return undefined;
    },
  };
}
