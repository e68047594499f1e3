/**
 * Makes a HAL subgraph: its operands, operations, constants and states.
 */
import { type AnyOperandType, isExtensionType, typeText } from "@nnhal/operations";
import { type Operand, type OperandExtraParams, OperandLifeTime, type Subgraph } from "@nnhal/types";
import { ensure } from "../../error.ts";
import type { TfliteSubgraph } from "../../model.ts";
import type { Constants } from "../constants.ts";
import type { Graph, GraphDraft, GraphFacts, StateOperands } from "../graph.ts";
import { isQuantised, type OperandSpec } from "../operand-types.ts";
import { valuesOf } from "./layer.ts";
import {
  addConstant,
  addOperand,
  addStored,
  draftOf,
  emitOperation,
  locateAdded,
  once,
  operandOf,
  outputOperands,
  stateOperands,
  wideConstant,
} from "./operands.ts";
import {
  declaredShape,
  isUnrankedOperand,
  leavesOpen,
  loosenShape,
  noteShape,
  reshapeOperand,
  varyingShape,
} from "./shapes.ts";
import { keepState, layerState } from "./state.ts";
import {
  constantBytes,
  dimensionsOf,
  type GraphWork,
  isNarrowed,
  placeOf,
  replaceShape,
  replaceType,
  settledTensor,
  setValue,
  specOf,
  tensorAt,
} from "./tensors.ts";

/** Starts a subgraph whose tensors have the given extents; -1 is unknown. */
export function createGraph(
  subgraph: TfliteSubgraph,
  storedShapes: readonly (readonly number[])[],
  constants: Constants,
  facts: GraphFacts,
): Graph {
  const path = `subgraphs[${facts.index}]`;
  const source = {
    ...facts,
    path,
    subgraph,
    storedShapes,
    constants,
    inputTensors: indexesOf(subgraph.inputs, `${path}.inputs`),
    outputTensors: new Set(subgraph.outputs),
    written: new Set(subgraph.operators.flatMap(({ outputs }) => outputs)),
    strings: new Map(),
  };
  return graphOf({ source, state: layerState() });
}

function indexesOf(list: readonly number[], path: string): Set<number> {
  const seen = new Set<number>();
  for (const index of list) {
    ensure(!seen.has(index), path, () => `tensor ${index} is listed twice`);
    seen.add(index);
  }
  return seen;
}

function graphOf(work: GraphWork): Graph {
  const { source, state } = work;
  return {
    path: source.path,
    index: source.index,
    subgraph: source.subgraph,
    tensor: (index) => settledTensor(work, index),
    listEmitted: () => valuesOf(state.emitted),
    placeOf: (tensor) => placeOf(work, tensor),
    dimensions: (tensor) => dimensionsOf(work, tensor),
    constantBytes: (tensor) => constantBytes(work, tensor),
    widenedBytes(tensor) {
      const bytes = tensorAt(work, tensor).type === "FLOAT16" ? constantBytes(work, tensor) : undefined;
      return bytes && source.constants.widen(bytes, placeOf(work, tensor));
    },
    fold(tensor, value, shape) {
      setValue(work, tensor, value, shape);
      state.unforeseen.delete(tensor);
      noteShape(work, tensor, dimensionsOf(work, tensor));
    },
    operand: (tensor) => operandOf(work, tensor),
    isUnranked: (operand) => isUnrankedOperand(work, operand),
    nameOf: (operand) => source.subgraph.tensors[state.tensorByOperand.get(operand) ?? -1]?.name,
    spec: (operand) => draftOf(work, operand),
    valueOf: (operand) => state.values.get(operand),
    reshape: (operand, shape) => reshapeOperand(work, operand, shape),
    loosen: (tensor, sources, isComputed) => loosenShape(work, tensor, sources, isComputed),
    setType: (tensor, type) => replaceType(work, tensor, type),
    isContradicted: () => state.unforeseen.size > 0,
    leavesOpen: (operand) => leavesOpen(work, operand),
    setShape(tensor, shape) {
      replaceShape(work, tensor, shape);
      noteShape(work, tensor, shape);
    },
    findVarying: (tensor) => varyingShape(work, tensor),
    readDeclared: (tensor) => declaredShape(work, tensor),
    usedShape(tensor) {
      const operand = state.operandByTensor.get(tensor);
      return operand === undefined ? undefined : draftOf(work, operand).dimensions;
    },
    tensorSpec(tensor) {
      const operand = state.operandByTensor.get(tensor);
      return operand === undefined ? specOf(work, tensor) : draftOf(work, operand);
    },
    reinterpret: (tensor, key, spec) => reinterpret(work, tensor, key, spec),
    constant: (spec, value) => addConstant(work, spec, value),
    share: (key, spec, value) => once(work, key, () => addConstant(work, spec, value)),
    subgraphReference: (index) => subgraphReference(work, index),
    omit: (type, rank) => omittedOperand(work, type, rank),
    temporary: (spec) => addOperand(work, spec, OperandLifeTime.TEMPORARY_VARIABLE),
    derive(key, spec, make) {
      return once(work, key, () => {
        const made = addOperand(work, spec, OperandLifeTime.TEMPORARY_VARIABLE);
        make(made);
        return made;
      });
    },
    state: (tensor) => stateOperands(work, tensor),
    emit: (operation, inputs, outputs, origin) => emitOperation(work, operation, inputs, outputs, origin),
    widen(operand) {
      const tensor = state.tensorByOperand.get(operand);
      return tensor === undefined ? undefined : wideConstant(work, tensor);
    },
    draft: () => draftGraph(work),
    finish: () => finishGraph(work),
  };
}

/** A graph over another one, which has what is made in it once it is kept. */
function draftGraph(work: GraphWork): GraphDraft {
  const state = layerState(work.state);
  return {
    graph: graphOf({ source: work.source, state }),
    keep() {
      keepState(state);
      locateAdded(work);
    },
  };
}

/** A constant of the file seen as another operand over the same bytes. */
function reinterpret(work: GraphWork, tensor: number, key: string, spec: () => OperandSpec): number {
  const bytes = constantBytes(work, tensor);
  const place = placeOf(work, tensor);
  const isOne = bytes !== undefined && !isNarrowed(work, tensor);
  ensure(isOne, place, () => "must be a constant, and not one of INT64");
  return once(work, `${tensor} as ${key}`, () => addStored(work, spec(), bytes, place));
}

function subgraphReference(work: GraphWork, index: number): number {
  const spec: OperandSpec = { type: "SUBGRAPH", dimensions: [], scale: 0, zeroPoint: 0 };
  const location = { poolIndex: 0, offset: index, length: 0 };
  return once(work, `subgraph ${index}`, () => addOperand(work, spec, OperandLifeTime.SUBGRAPH, { location }));
}

function omittedOperand(work: GraphWork, type: AnyOperandType, rank: number): number {
  const scale = isQuantised(type) ? 1 : 0;
  const dimensions = new Array<number>(rank).fill(0);
  const spec: OperandSpec = { type, dimensions, scale, zeroPoint: 0, isOmitted: true };
  return once(work, `omitted ${typeText(type)} ${rank}`, () => addOperand(work, spec, OperandLifeTime.NO_VALUE));
}

function extraParams({ type, channelQuant, params }: OperandSpec): OperandExtraParams {
  if (params !== undefined && isExtensionType(type) && type.params !== undefined) {
    return { kind: "extension", extension: type.params.encode(params) };
  }
  return channelQuant ? { kind: "channelQuant", channelQuant } : { kind: "none" };
}

/** The subgraph, with copies of values that are its outputs and not results. */
function finishGraph(work: GraphWork): { readonly subgraph: Subgraph; readonly states: readonly StateOperands[] } {
  const { source, state } = work;
  const outputIndexes = outputOperands(work);
  const inputIndexes = source.subgraph.inputs.map((tensor) => operandOf(work, tensor));
  const states = valuesOf(state.states);
  for (const { tensor, input, output } of source.returnsStates ? [] : states) {
    if (!source.inputTensors.has(tensor)) inputIndexes.push(input);
    outputIndexes.push(output);
  }
  const operations = valuesOf(state.operations);
  ensure(operations.length > 0, source.path, () => "has no operators");
  locateAdded(work);
  const operands = valuesOf(state.operands).map(
    (draft, index): Operand => ({
      type: source.dialect.typeCode(draft.type),
      dimensions: draft.dimensions,
      numberOfConsumers: state.consumers.get(index) ?? 0,
      scale: draft.scale,
      zeroPoint: draft.zeroPoint,
      lifetime: draft.lifetime,
      location: draft.location,
      extraParams: extraParams(draft),
    }),
  );
  return { subgraph: { operands, operations, inputIndexes, outputIndexes }, states };
}
