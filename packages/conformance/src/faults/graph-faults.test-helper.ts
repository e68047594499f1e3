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
import { areAlike, withWrongRows, writersIn } from "./wrong-rows.test-helper.ts";

/** The device's fault in words, the fault, and the graph that finds it. */
export type GraphFault = readonly [what: string, fault: Fault, check: string];

/** A device that prepares another subgraph than the one that it is given, if `mistake` finds something to mistake. */
function mistakeSubgraph(what: string, check: string, mistake: (main: Subgraph) => Subgraph | undefined): GraphFault {
  return prepareChanged(what, check, (model) => ({ ...model, main: mistake(model.main) ?? model.main }));
}

function prepareChanged(what: string, check: string, change: (model: Model) => Model): GraphFault {
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

/** With another operand in one place of an operation's inputs; numbers of consumers follow. */
function readOther(main: Subgraph, operation: number, position: number, operand: number): Subgraph {
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
      if (found !== undefined && found !== operand) return readOther(main, index, position, found);
    }
  }
  return undefined;
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

/** Returns true if an operation only changes the order of elements. */
function isRearranging(type: number | undefined): boolean {
  return type === OperationType.TRANSPOSE || type === OperationType.CHANNEL_SHUFFLE;
}

/** Turns the operations of one type into those of another. */
function retype(main: Subgraph, operation: number, type: Operation["type"]): Subgraph {
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

export const graphFaults: readonly GraphFault[] = [
  prepareChanged("adds the second tensor after a layer of few rows at the wrong row", "graphs/1.11", withWrongRows),
  mistakeSubgraph("reuses the storage of a value that is still read", "graphs/1.5", (main) => {
    const writers = writersIn(main);
    return firstReading(main, (operation, operand) => {
      const writer = writers.get(operand);
      if (writer === undefined) return undefined;
      const own = elementAt(main.operands, operand);
      return resultsBetween(main, writer, operation).find((other) => areAlike(elementAt(main.operands, other), own));
    });
  }),
  mistakeSubgraph("computes in the place of a value that has a second reader", "graphs/1.12", (main) =>
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
  mistakeSubgraph("computes in the place of an input that is read again", "graphs/1.3", (main) =>
    firstReading(main, (operation, operand) => {
      const own = elementAt(main.operands, operand);
      if (own.lifetime !== OperandLifeTime.SUBGRAPH_INPUT) return undefined;
      const [first] = readersOf(main, operand);
      if (first === undefined || first >= operation) return undefined;
      return elementAt(main.operations, first).outputs.find((other) => areAlike(elementAt(main.operands, other), own));
    }),
  ),
  mistakeSubgraph("joins an activation to the operation before it, and forgets it", "graphs/1.5", (main) => {
    const writers = writersIn(main);
    for (const [index, { type, inputs }] of main.operations.entries()) {
      const writer = writers.get(inputs[0] ?? -1);
      if (!activations.has(type) || writer === undefined) continue;
      const own = elementAt(main.operands, inputs[0] ?? -1);
      if (areAlike(elementAt(main.operands, elementAt(elementAt(main.operations, index).outputs, 0)), own)) {
        return retype(main, index, OperationType.FLOOR);
      }
    }
    return undefined;
  }),
  mistakeSubgraph("leaves out a conversion to integers and back", "graphs/1.45", (main) => {
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
  mistakeSubgraph("leaves out a change of element order", "graphs/1.2", (main) => {
    const writers = writersIn(main);
    return firstReading(main, (_operation, operand) => {
      const { type, inputs } = main.operations[writers.get(operand) ?? -1] ?? { type: undefined, inputs: [] };
      const source = inputs[0];
      if (source === undefined || !isRearranging(type)) return undefined;
      return areAlike(elementAt(main.operands, source), elementAt(main.operands, operand)) ? source : undefined;
    });
  }),
  mistakeSubgraph("takes any two changes of element order in a row for none", "graphs/1.36", (main) => {
    const writers = writersIn(main);
    return firstReading(main, (_operation, operand) => {
      const second = main.operations[writers.get(operand) ?? -1];
      const first = main.operations[writers.get(second?.inputs[0] ?? -1) ?? -1];
      const source = first?.inputs[0];
      if (source === undefined || !isRearranging(first?.type) || !isRearranging(second?.type)) return undefined;
      return areAlike(elementAt(main.operands, source), elementAt(main.operands, operand)) ? source : undefined;
    });
  }),
  mistakeSubgraph("moves a TRANSPOSE behind an operation with a constant for each channel", "graphs/1.5", (main) => {
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
  mistakeSubgraph("takes the other one of two branches that end in the same shape", "graphs/1.2", (main) =>
    firstReading(main, (operation, operand) => {
      const own = elementAt(main.operands, operand);
      if (!isResult(own)) return undefined;
      return resultsBetween(main, -1, operation).find(
        (other) => other !== operand && areAlike(elementAt(main.operands, other), own),
      );
    }),
  ),
  mistakeSubgraph(
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
  prepareChanged("changes a constant in its first reader, and reads it again", "graphs/1.25", (model) => {
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
    return { ...model, operandValues, main: readOther(extended, second, position, main.operands.length) };
  }),
  prepareChanged("takes constants of the same type and shape for one", "graphs/1.3", (model) => {
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
  mistakeSubgraph("exchanges the branches of IF", "graphs/1.1", (main) =>
    withReferences(main, OperationType.IF, ([condition = 0, yes = 0, no = 0, ...inputs]) => [
      condition,
      no,
      yes,
      ...inputs,
    ]),
  ),
  prepareChanged("runs the body of a loop once more", "graphs/1.0", (model) => {
    const conditions = new Set(
      model.main.operations.flatMap(({ type, inputs }) =>
        type === OperationType.WHILE ? [elementAt(model.main.operands, inputs[0] ?? -1).location.offset] : [],
      ),
    );
    const referenced = model.referenced.map((subgraph, index) => {
      if (!conditions.has(index)) return subgraph;
      const place = subgraph.operations.findIndex(({ type }) => type === OperationType.LESS);
      return place < 0 ? subgraph : retype(subgraph, place, OperationType.LESS_EQUAL);
    });
    return { ...model, referenced };
  }),
  prepareChanged("hands a branch its inputs in another order", "graphs/1.21", (model) => {
    const referenced = model.referenced.map((subgraph) => {
      const [first, second, ...others] = subgraph.inputIndexes;
      if (first === undefined || second === undefined) return subgraph;
      const [a, b] = [elementAt(subgraph.operands, first), elementAt(subgraph.operands, second)];
      return areAlike(a, b) ? { ...subgraph, inputIndexes: [second, first, ...others] } : subgraph;
    });
    return { ...model, referenced };
  }),
  mistakeSubgraph("exchanges two outputs of one shape", "graphs/1.2", (main) => {
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
