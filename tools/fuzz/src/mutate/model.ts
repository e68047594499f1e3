/** Changes of models in terms of their parts: types, shapes, values, edges, subgraphs. */
import { type Operand, OperandLifeTime, OperandType, type Operation, OperationType, type Subgraph } from "@nnhal/types";
import { type ModelInput, readModel, writeModel } from "../model-input.ts";
import type { Random } from "../random.ts";
import { mutateBytes, otherNumber } from "./bytes.ts";

/** A value whose parts can be assigned. */
type Draft<Value> = Value extends Uint8Array
  ? Value
  : Value extends readonly (infer Item)[]
    ? Draft<Item>[]
    : Value extends object
      ? { -readonly [Name in keyof Value]: Draft<Value[Name]> }
      : Value;

type DraftModel = Draft<ModelInput>;
type DraftSubgraph = Draft<Subgraph>;

const operandCodes = Object.values(OperandType);
const operationCodes = Object.values(OperationType);
const lifetimes = Object.values(OperandLifeTime);
const longestList = 64;

/** Some changes of a model, after which it mostly still is one. Undefined if the input is not a model. */
export function mutateModel(input: Uint8Array, random: Random, other: Uint8Array): Uint8Array | undefined {
  const model = readModel(input);
  if (model === undefined) return undefined;
  // The parsed model is shared with no other code, so its parts may be assigned.
  const draft = model as DraftModel;
  const steps = 1 + (random.oneIn(2) ? 0 : random.below(5));
  for (let step = 0; step < steps; step++) random.pick(changes)(draft, random, other);
  if (!random.oneIn(4)) repair(draft);
  return writeModel(draft);
}

type Change = (model: DraftModel, random: Random, other: Uint8Array) => void;

const changes: readonly Change[] = [
  onOperand((operand, random) => {
    operand.type = random.oneIn(8) ? otherNumber(operand.type, random) : random.pick(operandCodes);
  }),
  onOperand((operand, random, { operands }) => {
    operand.type = random.pick(operands).type;
  }),
  onOperand((operand, random) => changeList(operand.dimensions, random, 1 + random.below(6))),
  onOperand((operand, random) => changeList(operand.dimensions, random, 1 + random.below(6))),
  onOperand((operand, random, { operands }) => {
    operand.dimensions = [...random.pick(operands).dimensions];
  }),
  onOperand((operand, random) => {
    operand.scale = random.pick([0, 1, 0.5, 1 / 256, 1 / 128, 1e-30, 1e30, -1, Number.NaN, Number.POSITIVE_INFINITY]);
  }),
  onOperand((operand, random) => {
    operand.zeroPoint = random.pick([0, 1, -1, 127, 128, -128, 255, 256, 32_767, 65_535, -0x8000_0000, 0x7fff_ffff]);
  }),
  onOperand((operand, random) => {
    operand.lifetime = random.oneIn(8) ? random.below(12) : random.pick(lifetimes);
  }),
  onOperand((operand, random) => {
    const field = random.pick(["poolIndex", "offset", "length"] as const);
    operand.location[field] = otherNumber(operand.location[field], random);
  }),
  onOperand((operand, random) => {
    operand.extraParams = random.pick([
      { kind: "none" },
      { kind: "channelQuant", channelQuant: { scales: scalesOf(operand, random), channelDim: random.below(5) } },
      { kind: "extension", extension: Uint8Array.from({ length: random.below(12) }, () => random.below(256)) },
    ]);
  }),
  onOperand((operand, random) => {
    operand.numberOfConsumers = otherNumber(operand.numberOfConsumers, random);
  }),
  value,
  value,
  value,
  onOperation((operation, random) => {
    operation.type = random.oneIn(8) ? otherNumber(operation.type, random) : random.pick(operationCodes);
  }),
  onOperation((operation, random, { operands }) =>
    changeList(operation.inputs, random, random.below(operands.length + 1)),
  ),
  onOperation((operation, random, { operands }) =>
    changeList(operation.outputs, random, random.below(operands.length + 1)),
  ),
  onSubgraph((subgraph, random) => {
    if (subgraph.operations.length > 1) subgraph.operations.splice(random.below(subgraph.operations.length), 1);
  }),
  onSubgraph((subgraph, random) => {
    const [one, two] = [random.below(subgraph.operations.length), random.below(subgraph.operations.length)];
    const [first, second] = [subgraph.operations[one], subgraph.operations[two]];
    if (first === undefined || second === undefined) return;
    subgraph.operations[one] = second;
    subgraph.operations[two] = first;
  }),
  onSubgraph((subgraph, random) =>
    changeList(subgraph.inputIndexes, random, random.below(subgraph.operands.length + 1)),
  ),
  onSubgraph((subgraph, random) =>
    changeList(subgraph.outputIndexes, random, random.below(subgraph.operands.length + 1)),
  ),
  omit,
  append,
  append,
  refer,
  (model, random, other) => {
    model.operandValues = mutateBytes(model.operandValues, random, other, 4096);
  },
  (model, random, other) => {
    const at = random.below(model.pools.length + 1);
    model.pools[at] = mutateBytes(model.pools[at] ?? new Uint8Array(16), random, other, 4096);
  },
  (model, random, other) => {
    model.elements = mutateBytes(model.elements, random, other, 1024);
  },
  (model) => {
    const { structure } = model;
    structure.relaxComputationFloat32toFloat16 = !structure.relaxComputationFloat32toFloat16;
  },
];

function scalesOf({ dimensions }: Draft<Operand>, random: Random): number[] {
  const wanted = dimensions[random.below(dimensions.length)] ?? 1;
  return Array.from({ length: Math.min(longestList, wanted) }, () => 0.5);
}

function anySubgraph(model: DraftModel, random: Random): DraftSubgraph {
  const { main, referenced } = model.structure;
  return random.oneIn(2) ? main : random.pick([main, ...referenced]);
}

function onSubgraph(change: (subgraph: DraftSubgraph, random: Random) => void): Change {
  return (model, random) => change(anySubgraph(model, random), random);
}

function onOperand(change: (operand: Draft<Operand>, random: Random, subgraph: DraftSubgraph) => void): Change {
  return (model, random) => {
    const subgraph = anySubgraph(model, random);
    if (subgraph.operands.length > 0) change(random.pick(subgraph.operands), random, subgraph);
  };
}

function onOperation(change: (operation: Draft<Operation>, random: Random, subgraph: DraftSubgraph) => void): Change {
  return (model, random) => {
    const subgraph = anySubgraph(model, random);
    if (subgraph.operations.length > 0) change(random.pick(subgraph.operations), random, subgraph);
  };
}

/** An item more, less, changed or exchanged. `fresh`: an item that fits. */
function changeList(items: number[], random: Random, fresh: number): void {
  const at = random.below(items.length);
  switch (random.below(5)) {
    case 0:
      if (items.length < longestList) items.splice(at, 0, fresh);
      break;
    case 1:
      items.splice(at, 1);
      break;
    case 2:
      if (items.length > 0) items[at] = otherNumber(items[at] ?? 0, random);
      break;
    default:
      if (items.length > 0) items[at] = fresh;
  }
}

/** The first number of a constant: axes, strides, sizes and codes mostly have no other. */
function value(model: DraftModel, random: Random): void {
  const { operands } = anySubgraph(model, random);
  const constants = operands.filter(({ lifetime }) => lifetime === OperandLifeTime.CONSTANT_COPY);
  if (constants.length === 0) return;
  const { location } = random.pick(constants);
  const values = model.operandValues.slice();
  const at = location.offset + 4 * random.below(Math.ceil(Math.min(location.length, 4096) / 4));
  if (at + 4 > values.length) return;
  const view = new DataView(values.buffer);
  if (random.oneIn(3)) view.setFloat32(at, random.pick(floats), true);
  else if (random.oneIn(2)) view.setInt32(at, random.below(12) - 4, true);
  else view.setUint32(at, otherNumber(view.getUint32(at, true), random), true);
  model.operandValues = values;
}

const floats = [0, -0, 1, -1, 0.5, 2, 1e-40, 1e38, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

/** An input of an operation that is not given. */
function omit(model: DraftModel, random: Random): void {
  const { operands } = anySubgraph(model, random);
  if (operands.length === 0) return;
  const operand = random.pick(operands);
  operand.lifetime = OperandLifeTime.NO_VALUE;
  operand.location = { poolIndex: 0, offset: 0, length: 0 };
}

/** The operations of another model behind those of this one; from time to time reading its results. */
function append(model: DraftModel, random: Random, other: Uint8Array): void {
  const read = readModel(other) as DraftModel | undefined;
  const { main } = model.structure;
  if (read === undefined || main.operands.length + read.structure.main.operands.length > 200) return;
  const base = main.operands.length;
  const valuesBase = Math.ceil(model.operandValues.length / 4) * 4;
  const poolBase = model.pools.length;
  const shift = (indexes: readonly number[]) => indexes.map((index) => index + base);
  const results = [...main.outputIndexes];
  for (const operand of read.structure.main.operands) {
    if (operand.lifetime === OperandLifeTime.CONSTANT_COPY) operand.location.offset += valuesBase;
    if (operand.lifetime === OperandLifeTime.CONSTANT_REFERENCE) operand.location.poolIndex += poolBase;
    if (operand.lifetime === OperandLifeTime.SUBGRAPH) operand.location.offset += model.structure.referenced.length;
    main.operands.push(operand);
  }
  for (const operation of read.structure.main.operations) {
    main.operations.push({
      type: operation.type,
      inputs: shift(operation.inputs).map((index) =>
        results.length > 0 && random.oneIn(3) ? random.pick(results) : index,
      ),
      outputs: shift(operation.outputs),
    });
  }
  const values = new Uint8Array(valuesBase + read.operandValues.length);
  values.set(model.operandValues);
  values.set(read.operandValues, valuesBase);
  model.operandValues = values;
  model.pools.push(...read.pools);
  model.structure.referenced.push(...read.structure.referenced);
  repairSubgraph(main);
}

/** A referenced subgraph more: another model, or this one. */
function refer(model: DraftModel, random: Random, other: Uint8Array): void {
  const { referenced } = model.structure;
  if (referenced.length > 4) return;
  const read = random.oneIn(2) ? readModel(other) : undefined;
  referenced.push(structuredClone((read?.structure.main ?? model.structure.main) as DraftSubgraph));
}

/** Consumers and lists of inputs and outputs as the operands and operations say. */
function repair({ structure }: DraftModel): void {
  for (const subgraph of [structure.main, ...structure.referenced]) repairSubgraph(subgraph);
}

function repairSubgraph(subgraph: DraftSubgraph): void {
  const { operands, operations } = subgraph;
  for (const operand of operands) operand.numberOfConsumers = 0;
  for (const { inputs } of operations) {
    for (const index of inputs) {
      const operand = operands[index];
      if (operand !== undefined) operand.numberOfConsumers++;
    }
  }
  const withLifetime = (wanted: number) =>
    operands.flatMap(({ lifetime }, index) => (lifetime === wanted ? [index] : []));
  subgraph.inputIndexes = keep(subgraph.inputIndexes, withLifetime(OperandLifeTime.SUBGRAPH_INPUT));
  subgraph.outputIndexes = keep(subgraph.outputIndexes, withLifetime(OperandLifeTime.SUBGRAPH_OUTPUT));
}

/** The same items, in the order that they have already. */
function keep(list: readonly number[], wanted: readonly number[]): number[] {
  const known = list.filter((index, at) => wanted.includes(index) && list.indexOf(index) === at);
  return [...known, ...wanted.filter((index) => !known.includes(index))];
}
