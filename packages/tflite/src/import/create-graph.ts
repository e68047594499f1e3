/**
 * Makes a HAL subgraph: its operands, operations, constants and states.
 */
import type { StringTensor } from "@nnhal/extension-tflite/types";
import { byteSize, elementAt, elementFactsOf, isExtensionType, type Operation, typeText } from "@nnhal/operations";
import { type Operation as HalOperation, type Operand, type OperandExtraParams, OperandLifeTime } from "@nnhal/types";
import { ensure, fail, listText, type Place, quoted } from "../error.ts";
import type { TfliteSubgraph, TfliteTensor } from "../model.ts";
import { bytesOfIntegers, integersOf } from "./bytes.ts";
import type { Constants } from "./constants.ts";
import { type Dialect, halOperation } from "./dialect.ts";
import type { Graph, GraphFacts, StateOperands } from "./graph.ts";
import { elementSize, isQuantised, type OperandSpec, operandSpecOf, typeHelp } from "./operand-types.ts";
import { signatureProblem } from "./signature.ts";
import { stringTensor } from "./string-constants.ts";

type Draft = OperandSpec & Pick<Operand, "lifetime" | "location">;

/** Sizes have 32 bits in the HAL. */
const MOST_OPERAND_BYTES = 2 ** 32 - 1;

/** More dimensions than any operation takes. */
const MOST_DIMENSIONS = 32;

const nowhere = { poolIndex: 0, offset: 0, length: 0 };

function extraParams({ type, channelQuant, params }: OperandSpec): OperandExtraParams {
  if (params !== undefined && isExtensionType(type) && type.params !== undefined) {
    return { kind: "extension", extension: type.params.encode(params) };
  }
  return channelQuant ? { kind: "channelQuant", channelQuant } : { kind: "none" };
}

function indexesOf(list: readonly number[], path: string): Set<number> {
  const seen = new Set<number>();
  for (const index of list) {
    ensure(!seen.has(index), path, () => `tensor ${index} is listed twice`);
    seen.add(index);
  }
  return seen;
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

/** Whether all of some INT64 values fit in 32 bits, or say "to the end". */
function fitInt32(bytes: Uint8Array): boolean {
  return new BigInt64Array(bytes.slice().buffer).every(
    (value) => value === 2n ** 63n - 1n || BigInt.asIntN(32, value) === value,
  );
}

/** Starts a subgraph whose tensors have the given extents; -1 is unknown. */
export function createGraph(
  subgraph: TfliteSubgraph,
  storedShapes: readonly (readonly number[])[],
  constants: Constants,
  { index, narrow, dialect, returnsStates }: GraphFacts,
): Graph {
  const path = `subgraphs[${index}]`;
  const { tensors } = subgraph;
  const shapes = [...storedShapes];
  const operands: Draft[] = [];
  const values = new Map<number, Uint8Array>();
  const tensorByOperand = new Map<number, number>();
  /** Tensors whose shape is not the stored one. */
  const reshaped = new Set<number>();
  const operations: HalOperation[] = [];
  const emitted: { readonly operation: Operation; readonly origin: number }[] = [];
  const consumers = new Map<number, number>();
  const operandByTensor = new Map<number, number>();
  const operandByKey = new Map<string, number>();
  const specByTensor = new Map<number, OperandSpec>();
  const folded = new Map<number, Uint8Array>();
  const stringsByTensor = new Map<number, StringTensor>();
  const states: StateOperands[] = [];
  const newStates = new Map<number, number>();
  const inputTensors = indexesOf(subgraph.inputs, `${path}.inputs`);
  const outputTensors = new Set(subgraph.outputs);

  const tensorPath = (tensor: number) => `${path}.tensors[${tensor}] ${quoted(tensors[tensor]?.name ?? "")}`;
  const placeOf = (tensor: number): Place => {
    return () => ({
      path: tensorPath(tensor),
      tensor: { subgraph: index, index: tensor, name: tensors[tensor]?.name ?? "" },
    });
  };

  function tensorAt(index: number): TfliteTensor {
    const tensor = tensors[index];
    ensure(tensor !== undefined, path, () => `there is no tensor ${index}; it has ${tensors.length}`);
    return tensor;
  }

  function add(spec: OperandSpec, lifetime: number, location = nowhere): number {
    const size = byteSize(elementFactsOf(spec.type), spec.dimensions);
    ensure(
      size <= MOST_OPERAND_BYTES,
      path,
      () =>
        `a ${typeText(spec.type)} ${listText(spec.dimensions)} takes more than the ${MOST_OPERAND_BYTES} bytes that the HAL can express`,
    );
    operands.push({ ...spec, lifetime, location });
    return operands.length - 1;
  }

  function checkRank(index: number, shape: readonly number[]): void {
    ensure(
      shape.length <= MOST_DIMENSIONS,
      placeOf(index),
      () => `the shape has ${shape.length} dimensions, more than ${MOST_DIMENSIONS}`,
    );
  }

  function dimensions(index: number): readonly number[] {
    tensorAt(index);
    const shape = elementAt(shapes, index);
    if (shape.length === 0) return [1];
    checkRank(index, shape);
    for (const extent of shape) {
      ensure(
        extent !== 0,
        placeOf(index),
        () => `the shape ${listText(shape)} has no elements, which the HAL cannot express`,
      );
      ensure(
        extent === -1 || (Number.isInteger(extent) && extent > 0 && extent <= 0x7fff_ffff),
        placeOf(index),
        () => `the extent ${extent} in the shape ${listText(shape)} is not valid`,
      );
    }
    return shape.map((extent) => Math.max(extent, 0));
  }

  /** Refuses a constant whose shape is not known. Returns the bytes of one of its elements. */
  function checkConstantShape(index: number): number {
    const { type, shape } = tensorAt(index);
    checkRank(index, shape);
    const size = elementSize(type, dialect);
    ensure(size !== undefined, placeOf(index), () => `the HAL has no tensors of type ${type}`, typeHelp[type]);
    ensure(
      shape.every((extent) => Number.isInteger(extent) && extent >= 0),
      placeOf(index),
      () => `the shape ${listText(shape)} of a constant has to be known`,
    );
    return size;
  }

  /** Refuses a constant whose value has not the size of its shape. */
  function checkConstantSize(index: number, data: Uint8Array): void {
    const { type, shape } = tensorAt(index);
    const needed = shape.reduce((product, extent) => product * extent, checkConstantShape(index));
    ensure(
      data.length === needed,
      placeOf(index),
      () => `${type}${listText(shape)} takes ${needed} bytes, its value has ${data.length}`,
    );
  }

  function stringsAt(index: number, data: Uint8Array): StringTensor {
    const known = stringsByTensor.get(index);
    if (known !== undefined) return known;
    checkConstantShape(index);
    const count = tensorAt(index).shape.reduce((product, extent) => product * extent, 1);
    const strings = stringTensor(data, count, placeOf(index));
    stringsByTensor.set(index, strings);
    return strings;
  }

  function constantBytes(index: number): Uint8Array | undefined {
    const known = folded.get(index);
    if (known !== undefined) return known;
    const tensor = tensorAt(index);
    const { data, isVariable } = tensor;
    if (isVariable || inputTensors.has(index) || data === undefined) return undefined;
    if (tensor.type === "STRING") return stringsAt(index, data).bytes;
    const elements = constants.elementsOf(tensor, data, checkConstantShape(index), placeOf(index));
    checkConstantSize(index, elements);
    return elements;
  }

  /** The operand's description for a tensor; constants of INT64, and those that are known to fit, are INT32. */
  function specOf(index: number): OperandSpec {
    const known = specByTensor.get(index);
    if (known !== undefined) return known;
    const tensor = tensorAt(index);
    const described: OperandSpec = isNarrowed(index)
      ? { type: "TENSOR_INT32", dimensions: dimensions(index), scale: 0, zeroPoint: 0 }
      : operandSpecOf(tensor, dimensions(index), placeOf(index), dialect);
    const spec = withWidth(index, described);
    specByTensor.set(index, spec);
    return spec;
  }

  /** The bytes of a row of a constant of strings. */
  function withWidth(index: number, spec: OperandSpec): OperandSpec {
    const { type, data } = tensorAt(index);
    if (type !== "STRING" || data === undefined || constantBytes(index) === undefined) return spec;
    const width = stringsAt(index, data).dimensions.at(-1) ?? 0;
    return { ...spec, dimensions: spec.dimensions.with(-1, width) };
  }

  /** Whether an INT64 tensor becomes INT32: if it is known to fit, or is a constant; with a dialect that has INT64, one that fits. */
  function isNarrowed(index: number): boolean {
    if (tensorAt(index).type !== "INT64") return false;
    if (narrow.has(index)) return true;
    const bytes = constantBytes(index);
    return bytes !== undefined && (dialect.typeOf("INT64") === undefined || fitInt32(bytes));
  }

  /** A constant of the file stays in its pool. */
  function addConstant(spec: OperandSpec, value: Uint8Array, place: string): number {
    const location = constants.locate(value);
    return location === undefined
      ? add(spec, OperandLifeTime.CONSTANT_COPY, constants.add(value, place))
      : add(spec, OperandLifeTime.CONSTANT_REFERENCE, location);
  }

  /** A constant operand: INT64 values are narrowed, the others stay in the pool. */
  function constantOperand(index: number, bytes: Uint8Array): number {
    const place = tensorPath(index);
    const isNarrow = isNarrowed(index);
    const value = isNarrow ? bytesOfIntegers(integersOf("INT64", bytes, place)) : bytes;
    const made = addConstant(specOf(index), value, place);
    values.set(made, value);
    return made;
  }

  function makeOperand(index: number): number {
    const bytes = constantBytes(index);
    if (bytes !== undefined) return constantOperand(index, bytes);
    const spec = specOf(index);
    if (inputTensors.has(index)) return add(spec, OperandLifeTime.SUBGRAPH_INPUT);
    ensure(
      !tensorAt(index).isVariable,
      placeOf(index),
      () => "a variable tensor is read by an operator that keeps no state",
    );
    return add(spec, outputTensors.has(index) ? OperandLifeTime.SUBGRAPH_OUTPUT : OperandLifeTime.TEMPORARY_VARIABLE);
  }

  function operand(index: number): number {
    const known = operandByTensor.get(index);
    if (known !== undefined) return known;
    const made = makeOperand(index);
    operandByTensor.set(index, made);
    tensorByOperand.set(made, index);
    return made;
  }

  function once(key: string, make: () => number): number {
    const known = operandByKey.get(key);
    if (known !== undefined) return known;
    const made = make();
    operandByKey.set(key, made);
    return made;
  }

  function constant(spec: OperandSpec, value: Uint8Array): number {
    const made = add(spec, OperandLifeTime.CONSTANT_COPY, constants.add(value, path));
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
      const made = addConstant(spec, bytes, tensorPath(tensor));
      values.set(made, bytes);
      return made;
    });
  }

  /**
   * The operands of the subgraph's outputs. One that is not the result of an operation, or is listed before, is copied; the operand of
   * a state is its new value.
   */
  function outputOperands(): number[] {
    const taken = new Set<number>();
    return subgraph.outputs.map((index) => {
      const source = newStates.get(index) ?? wideConstant(index) ?? operand(index);
      const { lifetime, location: _location, ...spec } = elementAt(operands, source);
      const isResult = lifetime === OperandLifeTime.SUBGRAPH_OUTPUT && (returnsStates || !newStates.has(index));
      if (isResult && !taken.has(source)) {
        taken.add(source);
        return source;
      }
      ensure(
        !spec.channelQuant,
        placeOf(index),
        () => "is an output with a scale per channel, which the HAL cannot copy",
      );
      const copy = add(spec, OperandLifeTime.SUBGRAPH_OUTPUT);
      emit(copyOf(spec, placeOf(index), dialect), [source], [copy], -1);
      return copy;
    });
  }

  const graph: Graph = {
    path,
    index,
    subgraph,
    emitted,
    tensorPath,
    dimensions,
    constantBytes,
    fold(tensor, value) {
      checkConstantSize(tensor, value);
      folded.set(tensor, value);
    },
    operand,
    spec: (index) => elementAt(operands, index),
    valueOf: (operand) => values.get(operand),
    isOpen(operand) {
      const tensor = tensorByOperand.get(operand);
      // The shape of a value that the import adds is a guess by that of the operator's result.
      if (tensor === undefined) return true;
      return tensorAt(tensor).shapeSignature?.includes(-1) || elementAt(operands, operand).dimensions.includes(0);
    },
    reshape(operand, dimensions) {
      operands[operand] = { ...elementAt(operands, operand), dimensions };
      const tensor = tensorByOperand.get(operand);
      if (tensor !== undefined) reshaped.add(tensor);
    },
    loosen(tensor, sources) {
      const { shape, shapeSignature: signature } = tensorAt(tensor);
      if (signature?.length !== shape.length || operandByTensor.has(tensor)) return;
      if (!signature.includes(-1) || !sources.some((source) => reshaped.has(source))) return;
      shapes[tensor] = signature;
      reshaped.add(tensor);
    },
    setShape(tensor, shape) {
      shapes[tensor] = shape;
      specByTensor.delete(tensor);
      reshaped.add(tensor);
    },
    tensorSpec(tensor) {
      const known = operandByTensor.get(tensor);
      return known === undefined ? specOf(tensor) : elementAt(operands, known);
    },
    reinterpret(tensor, key, spec) {
      const bytes = constantBytes(tensor);
      const isOne = bytes !== undefined && !isNarrowed(tensor);
      ensure(isOne, placeOf(tensor), () => "must be a constant, and not one of INT64");
      return once(`${tensor} as ${key}`, () => addConstant(spec(), bytes, tensorPath(tensor)));
    },
    constant,
    shared: (key, spec, value) => once(key, () => constant(spec, value)),
    subgraphReference(index) {
      const spec: OperandSpec = { type: "SUBGRAPH", dimensions: [], scale: 0, zeroPoint: 0 };
      return once(`subgraph ${index}`, () =>
        add(spec, OperandLifeTime.SUBGRAPH, { poolIndex: 0, offset: index, length: 0 }),
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
    replaceOutput(tensor, spec) {
      const made = add(spec, OperandLifeTime.SUBGRAPH_OUTPUT);
      operandByTensor.set(tensor, made);
      return made;
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
