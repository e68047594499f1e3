/**
 * Faults that only graphs of several operations show: what compilers of graphs get wrong. Each changes the model that the reference device
 * prepares, as if it had mistaken one value for another.
 */
import { elementAt } from "@nnhal/operations";
import {
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  type Operation,
  OperationType,
  type Subgraph,
} from "@nnhal/types";
import type { Fault } from "../suites/faulty-device.test-helper.ts";

/** What the device does, and the graph that finds it. */
export type GraphFault = readonly [what: string, fault: Fault, check: string];

/** A device that prepares another subgraph than the one that it is given, if `mistake` finds something to mistake. */
function compiling(what: string, check: string, mistake: (main: Subgraph) => Subgraph | undefined): GraphFault {
  return preparing(what, check, (model) => ({ ...model, main: mistake(model.main) ?? model.main }));
}

function preparing(what: string, check: string, change: (model: Model) => Model): GraphFault {
  const fault: Fault = {
    device: ({ prepareModel }) => ({
      prepareModel(model, options) {
        const { cache: _, ...others } = options ?? {};
        // A changed model must not come back from a cache that the right one was kept in.
        return prepareModel(change(model), others);
      },
    }),
  };
  return [what, fault, check];
}

const isResult = ({ lifetime }: Operand) =>
  lifetime === OperandLifeTime.TEMPORARY_VARIABLE || lifetime === OperandLifeTime.SUBGRAPH_OUTPUT;

/** Whether two values are held in memory of one size, by what the model says. */
function areAlike(a: Operand, b: Operand): boolean {
  return (
    a.type === b.type &&
    a.scale === b.scale &&
    a.zeroPoint === b.zeroPoint &&
    a.dimensions.length > 0 &&
    !a.dimensions.includes(0) &&
    String(a.dimensions) === String(b.dimensions)
  );
}

/** With another operand in one place of an operation's inputs; numbers of consumers follow. */
function reading(main: Subgraph, operation: number, position: number, operand: number): Subgraph {
  const old = elementAt(elementAt(main.operations, operation).inputs, position);
  const operations = main.operations.map(
    (own, index): Operation => (index === operation ? { ...own, inputs: own.inputs.with(position, operand) } : own),
  );
  const operands = main.operands.map((own, index) => {
    const difference = (index === operand ? 1 : 0) - (index === old ? 1 : 0);
    return difference === 0 ? own : { ...own, numberOfConsumers: own.numberOfConsumers + difference };
  });
  return { ...main, operands, operations };
}

/** The first input of an operation for which something else can be taken. */
function firstReading(
  main: Subgraph,
  other: (operation: number, operand: number, position: number) => number | undefined,
): Subgraph | undefined {
  for (const [index, { type, inputs }] of main.operations.entries()) {
    if (type === OperationType.IF || type === OperationType.WHILE) continue;
    for (const [position, operand] of inputs.entries()) {
      const found = other(index, operand, position);
      if (found !== undefined && found !== operand) return reading(main, index, position, found);
    }
  }
  return undefined;
}

/** The number of the operation that writes each operand. */
function writersIn({ operations }: Subgraph): ReadonlyMap<number, number> {
  return new Map(operations.flatMap(({ outputs }, index) => outputs.map((operand) => [operand, index] as const)));
}

function readersOf({ operations }: Subgraph, operand: number): number[] {
  return operations.flatMap(({ inputs }, index) => (inputs.includes(operand) ? [index] : []));
}

/** Results of operations, written at least so many operations before another one. */
function resultsBetween(main: Subgraph, after: number, before: number): number[] {
  return main.operations.slice(after + 1, Math.max(after + 1, before)).flatMap(({ outputs }) => [...outputs]);
}

const elementwise: ReadonlySet<number> = new Set([
  OperationType.ABS,
  OperationType.ADD,
  OperationType.FLOOR,
  OperationType.LOGISTIC,
  OperationType.MUL,
  OperationType.NEG,
  OperationType.RELU,
  OperationType.RELU1,
  OperationType.RELU6,
  OperationType.SUB,
  OperationType.TANH,
]);

const activations: ReadonlySet<number> = new Set([OperationType.RELU, OperationType.RELU1, OperationType.RELU6]);

/** Whether an operation only changes the order of elements. */
function isRearranging(type: number | undefined): boolean {
  return type === OperationType.TRANSPOSE || type === OperationType.CHANNEL_SHUFFLE;
}

/** Turns the operations of one type into those of another. */
function retyped(main: Subgraph, operation: number, type: Operation["type"]): Subgraph {
  return {
    ...main,
    operations: main.operations.map((own, index) => (index === operation ? { ...own, type } : own)),
  };
}

/** The references of control flow, exchanged or replaced. */
function withReferences(
  main: Subgraph,
  type: number,
  change: (inputs: readonly number[]) => readonly number[],
): Subgraph | undefined {
  if (!main.operations.some((operation) => operation.type === type)) return undefined;
  const operations = main.operations.map((own) => (own.type === type ? { ...own, inputs: change(own.inputs) } : own));
  return { ...main, operations };
}

/** Layers whose results compilers join with the operation that reads them. */
const layers: ReadonlySet<number> = new Set([
  OperationType.CONV_2D,
  OperationType.DEPTHWISE_CONV_2D,
  OperationType.FULLY_CONNECTED,
]);

/** A model whose second tensor after a layer of 2 to 7 rows has its rows, except the first, in another order. */
function withWrongRows(model: Model): Model {
  const { main, operandValues } = model;
  const writers = writersIn(main);
  for (const [index, { type, inputs }] of main.operations.entries()) {
    if (type !== OperationType.ADD && type !== OperationType.SUB && type !== OperationType.MUL) continue;
    const [first = -1, second = -1] = inputs;
    const layer = main.operations[writers.get(first) ?? -1]?.type ?? -1;
    const [own, other] = [elementAt(main.operands, first), elementAt(main.operands, second)];
    const axis = own.dimensions.findIndex((extent, place) => extent > 1 && place < own.dimensions.length - 1);
    const rows = own.dimensions[axis] ?? 0;
    const isWide = (own.dimensions.at(-1) ?? 0) % 16 === 0;
    if (!layers.has(layer) || !areAlike({ ...own, scale: other.scale, zeroPoint: other.zeroPoint }, other)) continue;
    if (!isWide || rows < 3 || rows > 7) continue;
    const order = Int32Array.from({ length: rows }, (_, row) => (row === 0 ? 0 : rows - row));
    const values = new Uint8Array(operandValues.length + 4 + order.byteLength);
    values.set(operandValues);
    const constant = (offset: number, length: number, tensor: boolean): Operand => ({
      ...own,
      type: tensor ? OperandType.TENSOR_INT32 : OperandType.INT32,
      dimensions: tensor ? [rows] : [],
      scale: 0,
      zeroPoint: 0,
      numberOfConsumers: 1,
      lifetime: OperandLifeTime.CONSTANT_COPY,
      location: { poolIndex: 0, offset, length },
    });
    new DataView(values.buffer).setInt32(operandValues.length, axis, true);
    values.set(new Uint8Array(order.buffer), operandValues.length + 4);
    const moved: Operand = {
      ...other,
      lifetime: OperandLifeTime.TEMPORARY_VARIABLE,
      numberOfConsumers: 1,
      location: none,
    };
    const count = main.operands.length;
    const operands = [
      ...main.operands,
      constant(operandValues.length, 4, false),
      constant(operandValues.length + 4, order.byteLength, true),
      moved,
    ];
    const gather: Operation = { type: OperationType.GATHER, inputs: [second, count, count + 1], outputs: [count + 2] };
    const joined = { ...elementAt(main.operations, index), inputs: inputs.with(1, count + 2) };
    const operations = main.operations.toSpliced(index, 1, gather, joined);
    return { ...model, operandValues: values, main: { ...main, operands, operations } };
  }
  return model;
}

const none = { poolIndex: 0, offset: 0, length: 0 };

export const graphFaults: readonly GraphFault[] = [
  preparing("adds the second tensor after a layer of few rows at the wrong row", "graphs/1.11", withWrongRows),
  compiling("reuses the storage of a value that is still read", "graphs/1.5", (main) => {
    const writers = writersIn(main);
    return firstReading(main, (operation, operand) => {
      const writer = writers.get(operand);
      if (writer === undefined) return undefined;
      const own = elementAt(main.operands, operand);
      return resultsBetween(main, writer, operation).find((other) => areAlike(elementAt(main.operands, other), own));
    });
  }),
  compiling("computes in the place of a value that has a second reader", "graphs/1.12", (main) =>
    firstReading(main, (operation, operand) => {
      const own = elementAt(main.operands, operand);
      if (!isResult(own)) return undefined;
      const [first] = readersOf(main, operand);
      if (first === undefined || first >= operation) return undefined;
      const { type, outputs } = elementAt(main.operations, first);
      return elementwise.has(type)
        ? outputs.find((other) => areAlike(elementAt(main.operands, other), own))
        : undefined;
    }),
  ),
  compiling("computes in the place of an input that is read again", "graphs/1.3", (main) =>
    firstReading(main, (operation, operand) => {
      const own = elementAt(main.operands, operand);
      if (own.lifetime !== OperandLifeTime.SUBGRAPH_INPUT) return undefined;
      const [first] = readersOf(main, operand);
      if (first === undefined || first >= operation) return undefined;
      return elementAt(main.operations, first).outputs.find((other) => areAlike(elementAt(main.operands, other), own));
    }),
  ),
  compiling("joins an activation to the operation before it, and forgets it", "graphs/1.5", (main) => {
    const writers = writersIn(main);
    for (const [index, { type, inputs }] of main.operations.entries()) {
      const writer = writers.get(inputs[0] ?? -1);
      if (!activations.has(type) || writer === undefined) continue;
      const own = elementAt(main.operands, inputs[0] ?? -1);
      if (areAlike(elementAt(main.operands, elementAt(elementAt(main.operations, index).outputs, 0)), own)) {
        return retyped(main, index, OperationType.FLOOR);
      }
    }
    return undefined;
  }),
  compiling("leaves out a conversion to integers and back", "graphs/1.45", (main) => {
    const writers = writersIn(main);
    return firstReading(main, (_operation, operand) => {
      const second = main.operations[writers.get(operand) ?? -1];
      const first = main.operations[writers.get(second?.inputs[0] ?? -1) ?? -1];
      const conversions: readonly number[] = [OperationType.CAST, OperationType.DEQUANTIZE, OperationType.QUANTIZE];
      if (second === undefined || !conversions.includes(second.type)) return undefined;
      if (first === undefined || !conversions.includes(first.type)) return undefined;
      const source = elementAt(first.inputs, 0);
      return areAlike(elementAt(main.operands, source), elementAt(main.operands, operand)) ? source : undefined;
    });
  }),
  compiling("leaves out a change of element order", "graphs/1.2", (main) => {
    const writers = writersIn(main);
    return firstReading(main, (_operation, operand) => {
      const { type, inputs } = main.operations[writers.get(operand) ?? -1] ?? { type: undefined, inputs: [] };
      const source = inputs[0];
      if (source === undefined || !isRearranging(type)) return undefined;
      return areAlike(elementAt(main.operands, source), elementAt(main.operands, operand)) ? source : undefined;
    });
  }),
  compiling("takes any two changes of element order in a row for none", "graphs/1.36", (main) => {
    const writers = writersIn(main);
    return firstReading(main, (_operation, operand) => {
      const second = main.operations[writers.get(operand) ?? -1];
      const first = main.operations[writers.get(second?.inputs[0] ?? -1) ?? -1];
      const source = first?.inputs[0];
      if (source === undefined || !isRearranging(first?.type) || !isRearranging(second?.type)) return undefined;
      return areAlike(elementAt(main.operands, source), elementAt(main.operands, operand)) ? source : undefined;
    });
  }),
  compiling("moves a TRANSPOSE behind an operation with a constant for each channel", "graphs/1.5", (main) => {
    const { operands, operations } = main;
    for (const [first, transpose] of operations.entries()) {
      const [source = -1, permutation = -1] = transpose.inputs;
      const [between = -1] = transpose.outputs;
      const second = operations.findIndex(({ inputs }) => inputs[0] === between);
      const after = operations[second];
      const constant = operands[after?.inputs[1] ?? -1];
      const isMovable =
        transpose.type === OperationType.TRANSPOSE &&
        operands[between]?.numberOfConsumers === 1 &&
        (after?.type === OperationType.ADD || after?.type === OperationType.MUL) &&
        constant?.lifetime === OperandLifeTime.CONSTANT_COPY &&
        constant.dimensions.length === 1;
      if (after === undefined || !isMovable || !areAlike(elementAt(operands, source), elementAt(operands, between)))
        continue;
      const moved = { ...after, inputs: after.inputs.with(0, source), outputs: transpose.outputs };
      const last = { ...transpose, inputs: [between, permutation], outputs: after.outputs };
      return { ...main, operations: operations.with(first, moved).with(second, last) };
    }
    return undefined;
  }),
  compiling("takes the other one of two branches that end in the same shape", "graphs/1.2", (main) =>
    firstReading(main, (operation, operand) => {
      const own = elementAt(main.operands, operand);
      if (!isResult(own)) return undefined;
      return resultsBetween(main, -1, operation).find(
        (other) => other !== operand && areAlike(elementAt(main.operands, other), own),
      );
    }),
  ),
  compiling(
    "takes two operations on the same value for one, whatever their other operands are",
    "graphs/1.8",
    (main) => {
      const writers = writersIn(main);
      return firstReading(main, (_operation, operand) => {
        const writer = writers.get(operand);
        if (writer === undefined) return undefined;
        const { type, inputs } = elementAt(main.operations, writer);
        return main.operations
          .slice(0, writer)
          .filter(
            (other) => other.type === type && other.inputs[0] === inputs[0] && String(other.inputs) !== String(inputs),
          )
          .flatMap(({ outputs }) => [...outputs])
          .find((other) => areAlike(elementAt(main.operands, other), elementAt(main.operands, operand)));
      });
    },
  ),
  preparing("changes a constant in its first reader, and reads it again", "graphs/1.7", (model) => {
    const { main } = model;
    const shared = main.operands.findIndex(
      ({ lifetime, type, numberOfConsumers, dimensions }, index) =>
        lifetime === OperandLifeTime.CONSTANT_COPY &&
        type === OperandType.TENSOR_FLOAT32 &&
        dimensions.length > 0 &&
        numberOfConsumers > 1 &&
        readersOf(main, index).length > 1,
    );
    if (shared < 0) return model;
    const { location } = elementAt(main.operands, shared);
    const bytes = model.operandValues.slice(location.offset, location.offset + location.length);
    const numbers = new Float32Array(bytes.buffer);
    for (const [index, number] of numbers.entries()) numbers[index] = -number + 1;
    const operandValues = new Uint8Array(model.operandValues.length + bytes.length);
    operandValues.set(model.operandValues);
    operandValues.set(bytes, model.operandValues.length);
    const changed: Operand = {
      ...elementAt(main.operands, shared),
      numberOfConsumers: 0,
      location: { ...location, offset: model.operandValues.length },
    };
    const second = readersOf(main, shared)[1] ?? -1;
    const position = elementAt(main.operations, second).inputs.indexOf(shared);
    const extended = { ...main, operands: [...main.operands, changed] };
    return { ...model, operandValues, main: reading(extended, second, position, main.operands.length) };
  }),
  preparing("takes constants of the same type and shape for one", "graphs/1.3", (model) => {
    const { main } = model;
    const isConstant = ({ lifetime, type }: Operand) =>
      lifetime === OperandLifeTime.CONSTANT_COPY && type === OperandType.TENSOR_FLOAT32;
    const changed = firstReading(main, (_operation, operand) => {
      const own = elementAt(main.operands, operand);
      if (!isConstant(own)) return undefined;
      return main.operands.findIndex((other) => isConstant(other) && areAlike(other, own));
    });
    return changed === undefined ? model : { ...model, main: changed };
  }),
  compiling("exchanges the branches of IF", "graphs/1.1", (main) =>
    withReferences(main, OperationType.IF, ([condition = 0, yes = 0, no = 0, ...inputs]) => [
      condition,
      no,
      yes,
      ...inputs,
    ]),
  ),
  preparing("runs the body of a loop once more", "graphs/1.0", (model) => {
    const conditions = new Set(
      model.main.operations.flatMap(({ type, inputs }) =>
        type === OperationType.WHILE ? [elementAt(model.main.operands, inputs[0] ?? -1).location.offset] : [],
      ),
    );
    const referenced = model.referenced.map((subgraph, index) => {
      if (!conditions.has(index)) return subgraph;
      const place = subgraph.operations.findIndex(({ type }) => type === OperationType.LESS);
      return place < 0 ? subgraph : retyped(subgraph, place, OperationType.LESS_EQUAL);
    });
    return { ...model, referenced };
  }),
  preparing("hands a branch its inputs in another order", "graphs/1.21", (model) => {
    const referenced = model.referenced.map((subgraph) => {
      const [first, second, ...others] = subgraph.inputIndexes;
      if (first === undefined || second === undefined) return subgraph;
      const [a, b] = [elementAt(subgraph.operands, first), elementAt(subgraph.operands, second)];
      return areAlike(a, b) ? { ...subgraph, inputIndexes: [second, first, ...others] } : subgraph;
    });
    return { ...model, referenced };
  }),
  compiling("exchanges two outputs of one shape", "graphs/1.2", (main) => {
    const { outputIndexes, operands } = main;
    for (const [place, first] of outputIndexes.entries()) {
      const other = outputIndexes.findIndex(
        (second, index) => index > place && areAlike(elementAt(operands, first), elementAt(operands, second)),
      );
      if (other >= 0) {
        const second = elementAt(outputIndexes, other);
        return { ...main, outputIndexes: outputIndexes.with(place, second).with(other, first) };
      }
    }
    return undefined;
  }),
];
