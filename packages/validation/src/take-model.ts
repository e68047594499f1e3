/**
 * Frozen copies of the parts of a model. Each field is read once.
 */
import type { ExtensionNameAndPrefix, Memory, Operand, OperandExtraParams, Operation, Subgraph } from "@nnhal/types";
import { show } from "./issues.ts";
import { isObject } from "./structure.ts";
import { takeList, takeNumbers, Unreadable } from "./take.ts";

/** Memories keep their identity, by which they are mapped once: `SealedModel` has copies of their fields. */
export function takeMemory(memory: Memory): Memory {
  if (!isObject(memory)) throw new Unreadable(`a pool is ${show(memory)}`);
  return memory;
}

export function takePrefix({ name, prefix }: ExtensionNameAndPrefix): ExtensionNameAndPrefix {
  return Object.freeze({ name, prefix });
}

export function takeSubgraph({ operands, operations, inputIndexes, outputIndexes }: Subgraph): Subgraph {
  return Object.freeze({
    operands: frozenList(operands, "operands", takeOperand),
    operations: frozenList(operations, "operations", takeOperation),
    inputIndexes: frozenNumbers(inputIndexes, "inputIndexes"),
    outputIndexes: frozenNumbers(outputIndexes, "outputIndexes"),
  });
}

function takeOperation({ type, inputs, outputs }: Operation): Operation {
  return Object.freeze({ type, inputs: frozenNumbers(inputs, "inputs"), outputs: frozenNumbers(outputs, "outputs") });
}

function takeOperand(operand: Operand): Operand {
  const { type, dimensions, numberOfConsumers, scale, zeroPoint, lifetime, location, extraParams } = operand;
  const { poolIndex, offset, length } = location;
  return Object.freeze({
    type,
    dimensions: frozenNumbers(dimensions, "dimensions"),
    numberOfConsumers,
    scale,
    zeroPoint,
    lifetime,
    location: Object.freeze({ poolIndex, offset, length }),
    extraParams: takeExtraParams(extraParams),
  });
}

/** The parameters of most operands, shared. */
const noParams: OperandExtraParams = Object.freeze({ kind: "none" });

function takeExtraParams(params: OperandExtraParams): OperandExtraParams {
  if (params.kind === "none") return noParams;
  if (params.kind !== "channelQuant") return Object.freeze({ ...params });
  const { scales, channelDim } = params.channelQuant;
  const channelQuant = Object.freeze({ scales: frozenNumbers(scales, "scales"), channelDim });
  return Object.freeze({ kind: "channelQuant", channelQuant });
}

export function frozenList<Item, Taken>(
  list: readonly Item[],
  what: string,
  take: (item: Item) => Taken,
): readonly Taken[] {
  return Object.freeze(takeList(list, what, take));
}

const noNumbers: readonly number[] = Object.freeze([]);

function frozenNumbers(list: readonly number[], what: string): readonly number[] {
  const numbers = takeNumbers(list, what);
  return numbers.length === 0 ? noNumbers : Object.freeze(numbers);
}
