/** The operands of a graph: made on demand from the tensors that operations use, and those that the import adds. */
import { byteSize, elementFactsOf, type Operation, typeText } from "@nnhal/operations";
import { type DataLocation, OperandLifeTime } from "@nnhal/types";
import { ensure, fail, listText, type Place } from "../../error.ts";
import { bytesOfIntegers, integersOf } from "../bytes.ts";
import { type Dialect, halOperation } from "../dialect.ts";
import type { StateOperands } from "../graph.ts";
import type { OperandSpec } from "../operand-types.ts";
import { signatureProblem } from "../signature.ts";
import { push } from "./layer.ts";
import {
  constantBytes,
  dimensionsOf,
  fileSpecOf,
  type GraphWork,
  isNarrowed,
  placeOf,
  specOf,
  tensorAt,
} from "./tensors.ts";

/** Sizes have 32 bits in the HAL. */
const MOST_OPERAND_BYTES = 2 ** 32 - 1;

const nowhere = { poolIndex: 0, offset: 0, length: 0 };

/** Refuses an operand that is too large. `place`: what a problem is about. */
export function ensureSize(spec: OperandSpec, place: Place): void {
  const size = byteSize(elementFactsOf(spec.type), spec.dimensions);
  ensure(
    size <= MOST_OPERAND_BYTES,
    place,
    () =>
      `a ${typeText(spec.type)} ${listText(spec.dimensions)} takes more than the ${MOST_OPERAND_BYTES} bytes that the HAL can express`,
  );
}

/** Of an operand that is added: what a problem of it is about, by default the subgraph, and where its value lies. */
interface Added {
  readonly place?: Place;
  readonly location?: DataLocation;
}

/** Adds an operand. */
export function addOperand(
  { source, state }: GraphWork,
  spec: OperandSpec,
  lifetime: number,
  added: Added = {},
): number {
  const { place = source.path, location = nowhere } = added;
  ensureSize(spec, place);
  return push(state.operands, { ...spec, lifetime, location });
}

/** Adds an operation. `origin`: the index of its operator; -1 if it copies a value to an output. */
export function emitOperation(
  { source, state }: GraphWork,
  operation: Operation,
  inputs: readonly number[],
  outputs: readonly number[],
  origin: number,
): void {
  push(state.operations, { type: source.dialect.operationCode(operation), inputs, outputs });
  push(state.emitted, { operation, origin });
  for (const input of inputs) state.consumers.set(input, (state.consumers.get(input) ?? 0) + 1);
}

/** The operand that `make` makes on the first call with a key. */
export function once({ state }: GraphWork, key: string, make: () => number): number {
  const known = state.operandByKey.get(key);
  if (known !== undefined) return known;
  const made = make();
  state.operandByKey.set(key, made);
  return made;
}

/** Adds a constant that is in no pool. It gets its location when its graph is kept. */
function addCopied(work: GraphWork, spec: OperandSpec, value: Uint8Array, place: Place): number {
  const made = addOperand(work, spec, OperandLifeTime.CONSTANT_COPY, { place });
  work.state.added.set(made, { value, place });
  return made;
}

/** Gives the constants that were added their locations. */
export function locateAdded({ source, state }: GraphWork): void {
  for (const [operand, { value, place }] of state.added.own()) {
    const draft = state.operands.get(operand);
    if (draft !== undefined) state.operands.set(operand, { ...draft, location: source.constants.add(value, place) });
    state.added.delete(operand);
  }
}

/** A constant that the import adds. */
export function addConstant(work: GraphWork, spec: OperandSpec, value: Uint8Array): number {
  const made = addCopied(work, spec, value, work.source.path);
  work.state.values.set(made, value);
  return made;
}

/** The bytes of a constant of the file, which stay in its pool, as an operand. */
export function addStored(work: GraphWork, spec: OperandSpec, value: Uint8Array, place: Place): number {
  const location = work.source.constants.locate(value);
  return location === undefined
    ? addCopied(work, spec, value, place)
    : addOperand(work, spec, OperandLifeTime.CONSTANT_REFERENCE, { place, location });
}

/** The operand of a constant: INT64 values are narrowed, the others stay in the pool. */
function constantOperand(work: GraphWork, index: number, bytes: Uint8Array): number {
  const place = placeOf(work, index);
  const value = isNarrowed(work, index) ? bytesOfIntegers(integersOf("INT64", bytes, place)) : bytes;
  const made = addStored(work, specOf(work, index), value, place);
  work.state.values.set(made, value);
  return made;
}

/** A constant without elements: the HAL has none, but an operation whose result has none. */
function emptyOperand(work: GraphWork, index: number, spec = specOf(work, index)): number {
  const { type, scale, zeroPoint } = spec;
  // The file may store another shape of a result that the import computes.
  const stored = tensorAt(work, index).shape;
  const shape = stored.includes(0) ? stored : spec.dimensions;
  const sizes = { type: "TENSOR_INT32", dimensions: [shape.length], scale: 0, zeroPoint: 0 } as const;
  const extents = once(work, `sizes ${shape.join()}`, () => addConstant(work, sizes, bytesOfIntegers(shape)));
  const one = { type, dimensions: [1], scale, zeroPoint };
  const value = addConstant(work, one, new Uint8Array(byteSize(elementFactsOf(type), [1])));
  const made = addOperand(work, spec, OperandLifeTime.TEMPORARY_VARIABLE);
  const fill = work.source.dialect.operationOf("FILL");
  ensure(
    fill !== undefined && signatureProblem(fill, [sizes, one], [spec], work.source.dialect.halVersion) === undefined,
    placeOf(work, index),
    () =>
      `is a constant without elements (${tensorAt(work, index).type}${listText(shape)}), which the HAL cannot express`,
  );
  emitOperation(work, fill, [extents, value], [made], -1);
  return made;
}

function makeOperand(work: GraphWork, index: number): number {
  const bytes = constantBytes(work, index);
  const spec = specOf(work, index);
  const tensor = tensorAt(work, index);
  const isEmpty = tensor.shape.includes(0) || spec.dimensions.includes(0);
  if (bytes !== undefined) return isEmpty ? emptyOperand(work, index) : constantOperand(work, index, bytes);
  const place = placeOf(work, index);
  const { inputTensors, outputTensors } = work.source;
  if (inputTensors.has(index)) return addOperand(work, spec, OperandLifeTime.SUBGRAPH_INPUT, { place });
  ensure(!tensor.isVariable, place, () => "a variable tensor is read by an operator that keeps no state");
  const lifetime = outputTensors.has(index) ? OperandLifeTime.SUBGRAPH_OUTPUT : OperandLifeTime.TEMPORARY_VARIABLE;
  return addOperand(work, spec, lifetime, { place });
}

/** The operand of a tensor. */
export function operandOf(work: GraphWork, index: number): number {
  const known = work.state.operandByTensor.get(index);
  if (known !== undefined) return known;
  const made = makeOperand(work, index);
  work.state.operandByTensor.set(index, made);
  work.state.tensorByOperand.set(made, index);
  return made;
}

/** The operand with 64-bit integers of a constant that is narrowed to INT32 elsewhere; undefined for any other tensor. */
export function wideConstant(work: GraphWork, tensor: number): number | undefined {
  const bytes = isNarrowed(work, tensor) ? constantBytes(work, tensor) : undefined;
  if (bytes === undefined || work.source.dialect.typeOf("INT64") === undefined) return undefined;
  const spec = fileSpecOf(work, tensor);
  return once(work, `${tensor} as INT64`, () => {
    if (tensorAt(work, tensor).shape.includes(0)) return emptyOperand(work, tensor, spec);
    const made = addStored(work, spec, bytes, placeOf(work, tensor));
    work.state.values.set(made, bytes);
    return made;
  });
}

/** The operand with the value of a tensor after the execution, with all bits of a constant. */
export function valueOperand(work: GraphWork, tensor: number): number {
  return work.state.newStates.get(tensor) ?? wideConstant(work, tensor) ?? operandOf(work, tensor);
}

/** The operand of a variable tensor, and an output of the subgraph for its new value. */
export function stateOperands(work: GraphWork, tensor: number): StateOperands {
  const { operandByTensor, states, newStates } = work.state;
  const place = placeOf(work, tensor);
  const { isVariable } = tensorAt(work, tensor);
  ensure(isVariable, place, () => "is state of an operator, but not a variable tensor");
  ensure(!newStates.has(tensor), place, () => "is state of two operators; the HAL cannot share it");
  const spec = fileSpecOf(work, tensor);
  const input = operandByTensor.get(tensor) ?? addOperand(work, spec, OperandLifeTime.SUBGRAPH_INPUT);
  operandByTensor.set(tensor, input);
  const state = { tensor, input, output: addOperand(work, spec, OperandLifeTime.SUBGRAPH_OUTPUT) };
  push(states, state);
  newStates.set(tensor, state.output);
  return state;
}

/** The operation that copies a value. */
function copyOf(spec: OperandSpec, place: Place, dialect: Dialect): Operation {
  for (const find of [halOperation, dialect.operationOf]) {
    const operation = find("CAST");
    if (operation !== undefined && signatureProblem(operation, [spec], [spec], dialect.halVersion) === undefined)
      return operation;
  }
  fail(
    place,
    `is an output of type ${typeText(spec.type)} that is also an input or a constant, which nothing can copy`,
  );
}

/**
 * The operands of the subgraph's outputs. One that is not the result of an operation, or is listed before, is copied; the operand of
 * a state is its new value.
 */
export function outputOperands(work: GraphWork): number[] {
  const { source, state } = work;
  const taken = new Set<number>();
  return source.subgraph.outputs.map((index) => {
    if (specOf(work, index).channelQuant) return storedOutput(work, index);
    const operand = valueOperand(work, index);
    const { lifetime, location: _location, ...spec } = draftOf(work, operand);
    const isState = state.newStates.has(index) && !source.returnsStates;
    if (lifetime === OperandLifeTime.SUBGRAPH_OUTPUT && !isState && !taken.has(operand)) {
      taken.add(operand);
      return operand;
    }
    const copy = addOperand(work, spec, OperandLifeTime.SUBGRAPH_OUTPUT);
    emitOperation(work, copyOf(spec, placeOf(work, index), source.dialect), [operand], [copy], -1);
    return copy;
  });
}

/** An output that is a constant with a scale per channel: its elements as they are stored, since the HAL has no results of that type. */
function storedOutput(work: GraphWork, index: number): number {
  const [value, place] = [constantBytes(work, index), placeOf(work, index)];
  ensure(
    value !== undefined,
    place,
    () => "is an output with a scale per channel, which the HAL has for constants only",
  );
  const dimensions = dimensionsOf(work, index);
  const spec = { type: "TENSOR_QUANT8_ASYMM_SIGNED", dimensions, scale: 1, zeroPoint: 0 } as const;
  const copy = addOperand(work, spec, OperandLifeTime.SUBGRAPH_OUTPUT);
  const operation = copyOf(spec, place, work.source.dialect);
  emitOperation(work, operation, [addStored(work, spec, value, place)], [copy], -1);
  return copy;
}

/** An operand that is made. */
export function draftOf({ state }: GraphWork, operand: number) {
  const draft = state.operands.get(operand);
  if (draft === undefined) throw new RangeError(`there is no operand ${operand}`);
  return draft;
}
