/**
 * Copies of models that nothing can change: every field of the caller's model is read once, into frozen plain data.
 */
import type { DataLocation, Memory, Model, Operand, OperandExtraParams, Operation, Subgraph } from "@nnhal/types";
import { show } from "./issues.ts";
import { takeList, takeNumbers, Unreadable } from "./take.ts";

/** A copy of a model, whose parts are frozen. Throws Unreadable if its structure is wrong, and whatever the caller's getters throw. */
export function takeModel(given: Model): Model {
  const { main, referenced, operandValues, pools, relaxComputationFloat32toFloat16, extensionNameToPrefix } = given;
  return {
    main: takeSubgraph(main),
    referenced: frozenList(referenced, "referenced", takeSubgraph),
    operandValues,
    pools: frozenList(pools, "pools", takeMemory),
    relaxComputationFloat32toFloat16,
    extensionNameToPrefix: frozenList(extensionNameToPrefix, "extensionNameToPrefix", ({ name, prefix }) =>
      Object.freeze({ name, prefix }),
    ),
  };
}

/** Memories keep their identity, by which they are mapped once: `SealedModel` has copies of their fields. */
function takeMemory(memory: Memory): Memory {
  if (typeof memory !== "object" || memory === null) throw new Unreadable(`a pool is ${show(memory)}`);
  return memory;
}

function takeSubgraph({ operands, operations, inputIndexes, outputIndexes }: Subgraph): Subgraph {
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
  return Object.freeze({
    type,
    dimensions: frozenNumbers(dimensions, "dimensions"),
    numberOfConsumers,
    scale,
    zeroPoint,
    lifetime,
    location: takeLocation(location),
    extraParams: takeExtraParams(extraParams),
  });
}

/** What most operands have. */
const noParams: OperandExtraParams = Object.freeze({ kind: "none" });
const nowhere = Object.freeze({ poolIndex: 0, offset: 0, length: 0 });

function takeLocation({ poolIndex, offset, length }: DataLocation): DataLocation {
  const isNowhere = poolIndex === 0 && offset === 0 && length === 0;
  return isNowhere ? nowhere : Object.freeze({ poolIndex, offset, length });
}

function takeExtraParams(params: OperandExtraParams): OperandExtraParams {
  if (params.kind === "none") return noParams;
  if (params.kind !== "channelQuant") return Object.freeze({ ...params });
  const { scales, channelDim } = params.channelQuant;
  const channelQuant = Object.freeze({ scales: frozenNumbers(scales, "scales"), channelDim });
  return Object.freeze({ kind: "channelQuant", channelQuant });
}

function frozenList<Item, Taken>(list: readonly Item[], what: string, take: (item: Item) => Taken): readonly Taken[] {
  return Object.freeze(takeList(list, what, take));
}

const noNumbers: readonly number[] = Object.freeze([]);

function frozenNumbers(list: readonly number[], what: string): readonly number[] {
  const numbers = takeNumbers(list, what);
  return numbers.length === 0 ? noNumbers : Object.freeze(numbers);
}
