/**
 * Makes a HAL subgraph: its operands, operations, constants and states.
 */
import { byteSize, elementAt, elementFactsOf, isExtensionType, type Operation, typeText } from "@nnhal/operations";
import {
  type DataLocation,
  type Operation as HalOperation,
  type Operand,
  type OperandExtraParams,
  OperandLifeTime,
} from "@nnhal/types";
import { ensure, fail, listText, type Place } from "../error.ts";
import type { TfliteSubgraph } from "../model.ts";
import { bytesOfIntegers, integersOf } from "./bytes.ts";
import type { Constants } from "./constants.ts";
import { type Dialect, halOperation } from "./dialect.ts";
import type { Graph, GraphFacts, StateOperands } from "./graph.ts";
import { isQuantised, type OperandSpec, operandSpecOf } from "./operand-types.ts";
import { isUnranked, openShape } from "./shapes.ts";
import { signatureProblem } from "./signature.ts";
import { createTensorFacts } from "./tensor-facts.ts";
import { operandExtents, VARIES, type Varying } from "./varying.ts";

type Draft = OperandSpec & Pick<Operand, "lifetime" | "location">;

/** Sizes have 32 bits in the HAL. */
const MOST_OPERAND_BYTES = 2 ** 32 - 1;

const nowhere = { poolIndex: 0, offset: 0, length: 0 };

function extraParams({ type, channelQuant, params }: OperandSpec): OperandExtraParams {
  if (params !== undefined && isExtensionType(type) && type.params !== undefined) {
    return { kind: "extension", extension: type.params.encode(params) };
  }
  return channelQuant ? { kind: "channelQuant", channelQuant } : { kind: "none" };
}

/** The operation that copies a value. */
function copyOf(spec: OperandSpec, place: Place, dialect: Dialect): Operation {
  for (const find of [halOperation, dialect.operationOf]) {
    const operation = find("CAST");
    if (operation !== undefined && signatureProblem(operation, [spec], [spec]) === undefined) return operation;
  }
  fail(
    place,
    `is an output of type ${typeText(spec.type)} that is also an input or a constant, which nothing can copy`,
  );
}

/** Removes the entries whose operands are not below a bound. */
function removeFrom<Key>(map: Map<Key, number>, bound: number): void {
  for (const [key, operand] of map) if (operand >= bound) map.delete(key);
}

/** Of an operand that is added: what a problem of it is about, by default the subgraph, and where its value lies. */
interface Added {
  readonly place?: Place;
  readonly location?: DataLocation;
}

/** Starts a subgraph whose tensors have the given extents; -1 is unknown. */
export function createGraph(
  subgraph: TfliteSubgraph,
  storedShapes: readonly (readonly number[])[],
  constants: Constants,
  { index, narrow, dialect, returnsStates }: GraphFacts,
): Graph {
  const path = `subgraphs[${index}]`;
  const facts = createTensorFacts(subgraph, storedShapes, constants, { index, narrow, dialect });
  const { placeOf, tensorAt, dimensions, constantBytes, isNarrowed, specOf, inputTensors } = facts;
  const operands: Draft[] = [];
  const values = new Map<number, Uint8Array>();
  const tensorByOperand = new Map<number, number>();
  /** Tensors whose shape is not the stored one. */
  const reshaped = new Set<number>();
  /** Those of them whose shape contradicts the file, or depends on one that does. */
  const unforeseen = new Set<number>();
  const operations: HalOperation[] = [];
  const emitted: { readonly operation: Operation; readonly origin: number }[] = [];
  const consumers = new Map<number, number>();
  const operandByTensor = new Map<number, number>();
  const operandByKey = new Map<string, number>();
  const states: StateOperands[] = [];
  const newStates = new Map<number, number>();
  const outputTensors = new Set(subgraph.outputs);

  function ensureSize(spec: OperandSpec, place: Place): void {
    const size = byteSize(elementFactsOf(spec.type), spec.dimensions);
    ensure(
      size <= MOST_OPERAND_BYTES,
      place,
      () =>
        `a ${typeText(spec.type)} ${listText(spec.dimensions)} takes more than the ${MOST_OPERAND_BYTES} bytes that the HAL can express`,
    );
  }

  function add(spec: OperandSpec, lifetime: number, { place = path, location = nowhere }: Added = {}): number {
    ensureSize(spec, place);
    operands.push({ ...spec, lifetime, location });
    return operands.length - 1;
  }

  /** A constant of the file stays in its pool. */
  function addConstant(spec: OperandSpec, value: Uint8Array, place: Place): number {
    const location = constants.locate(value);
    return location === undefined
      ? add(spec, OperandLifeTime.CONSTANT_COPY, { place, location: constants.add(value, place) })
      : add(spec, OperandLifeTime.CONSTANT_REFERENCE, { place, location });
  }

  /** A constant operand: INT64 values are narrowed, the others stay in the pool. */
  function constantOperand(index: number, bytes: Uint8Array): number {
    const place = placeOf(index);
    const isNarrow = isNarrowed(index);
    const value = isNarrow ? bytesOfIntegers(integersOf("INT64", bytes, place)) : bytes;
    const made = addConstant(specOf(index), value, place);
    values.set(made, value);
    return made;
  }

  /** A constant without elements: the HAL has none, but an operation whose result has none. */
  function emptyOperand(index: number, spec = specOf(index)): number {
    const { type, scale, zeroPoint } = spec;
    // The file may store another shape of a result that the import computes.
    const stored = tensorAt(index).shape;
    const shape = stored.includes(0) ? stored : spec.dimensions;
    const sizes = { type: "TENSOR_INT32", dimensions: [shape.length], scale: 0, zeroPoint: 0 } as const;
    const extents = graph.shared(`sizes ${shape.join()}`, sizes, bytesOfIntegers(shape));
    const one = { type, dimensions: [1], scale, zeroPoint };
    const value = constant(one, new Uint8Array(byteSize(elementFactsOf(type), [1])));
    const made = add(spec, OperandLifeTime.TEMPORARY_VARIABLE);
    const fill = dialect.operationOf("FILL");
    ensure(
      fill !== undefined && signatureProblem(fill, [sizes, one], [spec]) === undefined,
      placeOf(index),
      () => `is a constant without elements (${tensorAt(index).type}${listText(shape)}), which the HAL cannot express`,
    );
    emit(fill, [extents, value], [made], -1);
    return made;
  }

  function makeOperand(index: number): number {
    const bytes = constantBytes(index);
    const spec = specOf(index);
    const isEmpty = tensorAt(index).shape.includes(0) || spec.dimensions.includes(0);
    if (bytes !== undefined) return isEmpty ? emptyOperand(index) : constantOperand(index, bytes);
    const place = placeOf(index);
    if (inputTensors.has(index)) return add(spec, OperandLifeTime.SUBGRAPH_INPUT, { place });
    ensure(!tensorAt(index).isVariable, place, () => "a variable tensor is read by an operator that keeps no state");
    const isOutput = outputTensors.has(index);
    return add(spec, isOutput ? OperandLifeTime.SUBGRAPH_OUTPUT : OperandLifeTime.TEMPORARY_VARIABLE, { place });
  }

  function operand(index: number): number {
    const known = operandByTensor.get(index);
    if (known !== undefined) return known;
    const made = makeOperand(index);
    operandByTensor.set(index, made);
    tensorByOperand.set(made, index);
    return made;
  }

  function declared(tensor: number): readonly number[] {
    const open = openShape(tensorAt(tensor));
    return open.length === 0 ? [1] : open.map((extent) => Math.max(extent, 0));
  }

  /** Notes that a tensor has another shape than the stored one, and whether the file says so. */
  function noteShape(tensor: number, given: Varying): void {
    reshaped.add(tensor);
    if (given.includes(VARIES)) {
      unforeseen.add(tensor);
      return;
    }
    const said = declared(tensor);
    const shape = tensorAt(tensor).type === "STRING" ? given.slice(0, said.length) : given;
    // One that was unforeseen before must be known now.
    const isOpen = unforeseen.has(tensor) ? () => false : (extent: number) => extent === 0;
    const isSaid = (extent: number, place: number) => said[place] === 0 || said[place] === extent || isOpen(extent);
    if (shape.length === said.length && shape.every(isSaid)) unforeseen.delete(tensor);
    else unforeseen.add(tensor);
  }

  function once(key: string, make: () => number): number {
    const known = operandByKey.get(key);
    if (known !== undefined) return known;
    const made = make();
    operandByKey.set(key, made);
    return made;
  }

  function constant(spec: OperandSpec, value: Uint8Array): number {
    const made = add(spec, OperandLifeTime.CONSTANT_COPY, { location: constants.add(value, path) });
    values.set(made, value);
    return made;
  }

  function emit(operation: Operation, inputs: readonly number[], outputs: readonly number[], origin: number): void {
    operations.push({ type: dialect.operationCode(operation), inputs, outputs });
    emitted.push({ operation, origin });
    for (const input of inputs) consumers.set(input, (consumers.get(input) ?? 0) + 1);
  }

  /** The operand with 64-bit integers of a constant that is narrowed to INT32 elsewhere; undefined for any other tensor. */
  function wideConstant(tensor: number): number | undefined {
    const bytes = isNarrowed(tensor) ? constantBytes(tensor) : undefined;
    if (bytes === undefined || dialect.typeOf("INT64") === undefined) return undefined;
    const spec = operandSpecOf(tensorAt(tensor), dimensions(tensor), placeOf(tensor), dialect);
    return once(`${tensor} as INT64`, () => {
      if (tensorAt(tensor).shape.includes(0)) return emptyOperand(tensor, spec);
      const made = addConstant(spec, bytes, placeOf(tensor));
      values.set(made, bytes);
      return made;
    });
  }

  /** The operand with the value of a tensor after the execution, with all bits of a constant. */
  function valueOperand(tensor: number): number {
    return newStates.get(tensor) ?? wideConstant(tensor) ?? operand(tensor);
  }

  /**
   * The operands of the subgraph's outputs. One that is not the result of an operation, or is listed before, is copied; the operand of
   * a state is its new value.
   */
  function outputOperands(): number[] {
    const taken = new Set<number>();
    return subgraph.outputs.map((index) => {
      if (specOf(index).channelQuant) return storedOutput(index);
      const source = valueOperand(index);
      const { lifetime, location: _location, ...spec } = elementAt(operands, source);
      const isResult = lifetime === OperandLifeTime.SUBGRAPH_OUTPUT && (returnsStates || !newStates.has(index));
      if (isResult && !taken.has(source)) {
        taken.add(source);
        return source;
      }
      const copy = add(spec, OperandLifeTime.SUBGRAPH_OUTPUT);
      emit(copyOf(spec, placeOf(index), dialect), [source], [copy], -1);
      return copy;
    });
  }

  /** An output that is a constant with a scale per channel: its elements as they are stored, since the HAL has no results of that type. */
  function storedOutput(index: number): number {
    const [value, place] = [constantBytes(index), placeOf(index)];
    ensure(
      value !== undefined,
      place,
      () => "is an output with a scale per channel, which the HAL has for constants only",
    );
    const spec = { type: "TENSOR_QUANT8_ASYMM_SIGNED", dimensions: dimensions(index), scale: 1, zeroPoint: 0 } as const;
    const copy = add(spec, OperandLifeTime.SUBGRAPH_OUTPUT);
    emit(copyOf(spec, place, dialect), [addConstant(spec, value, place)], [copy], -1);
    return copy;
  }

  const graph: Graph = {
    path,
    index,
    subgraph: facts.settled,
    emitted,
    placeOf,
    dimensions,
    constantBytes,
    widenedBytes(tensor) {
      const bytes = tensorAt(tensor).type === "FLOAT16" ? constantBytes(tensor) : undefined;
      return bytes && constants.widen(bytes, placeOf(tensor));
    },
    fold(tensor, value, shape) {
      facts.fold(tensor, value, shape);
      unforeseen.delete(tensor);
      noteShape(tensor, dimensions(tensor));
    },
    operand,
    isUnranked(operand) {
      const tensor = tensorByOperand.get(operand);
      return tensor !== undefined && isUnranked(tensorAt(tensor));
    },
    nameOf: (operand) => subgraph.tensors[tensorByOperand.get(operand) ?? -1]?.name,
    spec: (index) => elementAt(operands, index),
    valueOf: (operand) => values.get(operand),
    reshape(operand, shape) {
      const spec = { ...elementAt(operands, operand), dimensions: operandExtents(shape) };
      const tensor = tensorByOperand.get(operand);
      ensureSize(spec, tensor === undefined ? path : placeOf(tensor));
      operands[operand] = spec;
      if (tensor === undefined) return;
      const { type, shape: stored } = tensorAt(tensor);
      noteShape(tensor, shape);
      // The last extent of strings is the size of their rows.
      facts.setShape(tensor, type === "STRING" ? shape.slice(0, Math.max(stored.length, 1)) : shape);
    },
    loosen(tensor, sources, isComputed) {
      const { shape, shapeSignature: signature } = tensorAt(tensor);
      if (operandByTensor.has(tensor)) return;
      if (sources.some((source) => unforeseen.has(source))) {
        facts.setShape(
          tensor,
          shape.map(() => -1),
        );
        reshaped.add(tensor);
        unforeseen.add(tensor);
        return;
      }
      if (signature?.length !== shape.length) return;
      const isOther = isComputed || sources.some((source) => reshaped.has(source));
      if (!signature.includes(-1) || !isOther) return;
      facts.setShape(tensor, signature);
      reshaped.add(tensor);
    },
    setType: facts.setType,
    isContradicted: () => unforeseen.size > 0,
    leavesOpen(operand) {
      const tensor = tensorByOperand.get(operand);
      return tensor !== undefined && !unforeseen.has(tensor) && declared(tensor).includes(0);
    },
    setShape(tensor, shape) {
      facts.setShape(tensor, shape);
      noteShape(tensor, shape);
    },
    varying(tensor) {
      const { dimensions } = elementAt(operands, valueOperand(tensor));
      return unforeseen.has(tensor) ? dimensions.map((extent) => (extent === 0 ? VARIES : extent)) : dimensions;
    },
    declared,
    usedShape(tensor) {
      const known = operandByTensor.get(tensor);
      return known === undefined ? undefined : elementAt(operands, known).dimensions;
    },
    tensorSpec(tensor) {
      const known = operandByTensor.get(tensor);
      return known === undefined ? specOf(tensor) : elementAt(operands, known);
    },
    reinterpret(tensor, key, spec) {
      const bytes = constantBytes(tensor);
      const isOne = bytes !== undefined && !isNarrowed(tensor);
      ensure(isOne, placeOf(tensor), () => "must be a constant, and not one of INT64");
      return once(`${tensor} as ${key}`, () => addConstant(spec(), bytes, placeOf(tensor)));
    },
    constant,
    shared: (key, spec, value) => once(key, () => constant(spec, value)),
    subgraphReference(index) {
      const spec: OperandSpec = { type: "SUBGRAPH", dimensions: [], scale: 0, zeroPoint: 0 };
      return once(`subgraph ${index}`, () =>
        add(spec, OperandLifeTime.SUBGRAPH, { location: { poolIndex: 0, offset: index, length: 0 } }),
      );
    },
    omitted(type, rank) {
      const scale = isQuantised(type) ? 1 : 0;
      const dimensions = new Array<number>(rank).fill(0);
      const spec: OperandSpec = { type, dimensions, scale, zeroPoint: 0, isOmitted: true };
      return once(`omitted ${typeText(type)} ${rank}`, () => add(spec, OperandLifeTime.NO_VALUE));
    },
    temporary: (spec) => add(spec, OperandLifeTime.TEMPORARY_VARIABLE),
    derived(key, spec, make) {
      return once(key, () => {
        const made = add(spec, OperandLifeTime.TEMPORARY_VARIABLE);
        make(made);
        return made;
      });
    },
    state(tensor) {
      const place = placeOf(tensor);
      const { isVariable } = tensorAt(tensor);
      ensure(isVariable, place, () => "is state of an operator, but not a variable tensor");
      ensure(!newStates.has(tensor), place, () => "is state of two operators; the HAL cannot share it");
      const spec = operandSpecOf(tensorAt(tensor), dimensions(tensor), place, dialect);
      const known = operandByTensor.get(tensor);
      const input = known ?? add(spec, OperandLifeTime.SUBGRAPH_INPUT);
      operandByTensor.set(tensor, input);
      const state = { tensor, input, output: add(spec, OperandLifeTime.SUBGRAPH_OUTPUT) };
      states.push(state);
      newStates.set(tensor, state.output);
      return state;
    },
    emit,
    widened(operand) {
      const tensor = tensorByOperand.get(operand);
      return tensor === undefined ? undefined : wideConstant(tensor);
    },
    undoIfThrown(work) {
      const before = { operands: operands.length, operations: operations.length, states: states.length };
      try {
        work();
      } catch (error) {
        for (const { inputs } of operations.splice(before.operations)) {
          for (const input of inputs) consumers.set(input, (consumers.get(input) ?? 0) - 1);
        }
        emitted.length = before.operations;
        operands.length = before.operands;
        for (const { tensor } of states.splice(before.states)) newStates.delete(tensor);
        removeFrom(operandByTensor, before.operands);
        removeFrom(operandByKey, before.operands);
        for (const map of [values, tensorByOperand]) {
          for (const operand of map.keys()) if (operand >= before.operands) map.delete(operand);
        }
        throw error;
      }
    },
    finish() {
      const outputs = outputOperands();
      const inputIndexes = subgraph.inputs.map(operand);
      for (const { tensor, input, output } of states) {
        if (returnsStates) continue;
        if (!inputTensors.has(tensor)) inputIndexes.push(input);
        outputs.push(output);
      }
      ensure(operations.length > 0, path, () => "has no operators");
      const finished = operands.map(
        (draft, index): Operand => ({
          type: dialect.typeCode(draft.type),
          dimensions: draft.dimensions,
          numberOfConsumers: consumers.get(index) ?? 0,
          scale: draft.scale,
          zeroPoint: draft.zeroPoint,
          lifetime: draft.lifetime,
          location: draft.location,
          extraParams: extraParams(draft),
        }),
      );
      return { subgraph: { operands: finished, operations, inputIndexes, outputIndexes: outputs }, states };
    },
  };
  return graph;
}
