/**
 * Models of one kind of operation that are small enough for every case: a device need not support more than one of the
 * operations here. Each takes a tensor and gives one of the same type and shape.
 */
import { elementAt } from "@nnhal/operations";
import type { HalVersion, Model, OperationTypeName } from "@nnhal/types";
import type { ElementType } from "../needs.ts";
import type { ExampleOperand, ExampleOperation, ExampleSubgraph } from "../vectors/example.ts";
import { modelOf } from "../vectors/model.ts";
import { bytesOf } from "./values.ts";

/** An operation from a tensor to one like it. */
export interface SmallOperation {
  readonly name: OperationTypeName;
  /** The HAL version since which it takes a type; it does not take the others. */
  readonly since: Readonly<Partial<Record<ElementType, HalVersion>>>;
  /** Its inputs: `x` for the tensor, and constants. */
  inputs(dimensions: readonly number[]): readonly ("x" | ExampleOperand)[];
  /** Computes the result for an element. Zero points are 0. */
  compute(x: number): number;
  /** The shape is a constant of the model. */
  readonly hasFixedShape?: boolean;
}

const floats = { TENSOR_FLOAT32: "1.0", TENSOR_FLOAT16: "1.2" } as const;
const all = { ...floats, TENSOR_QUANT8_ASYMM: "1.0", TENSOR_QUANT8_ASYMM_SIGNED: "1.3" } as const;
const none = constant("INT32", [], [0]);

/** In the order in which they are tried. */
export const smallOperations: readonly SmallOperation[] = [
  { name: "RELU", since: all, inputs: () => ["x"], compute: (x) => Math.max(0, x) },
  { name: "ADD", since: floats, inputs: () => ["x", "x", none], compute: (x) => x + x },
  { name: "MUL", since: floats, inputs: () => ["x", "x", none], compute: (x) => x * x },
  { name: "FLOOR", since: floats, inputs: () => ["x"], compute: Math.floor },
  { name: "RELU6", since: floats, inputs: () => ["x"], compute: (x) => Math.min(6, Math.max(0, x)) },
  { name: "ABS", since: { TENSOR_FLOAT32: "1.2", TENSOR_FLOAT16: "1.2" }, inputs: () => ["x"], compute: Math.abs },
  { name: "NEG", since: { TENSOR_FLOAT32: "1.2", TENSOR_FLOAT16: "1.2" }, inputs: () => ["x"], compute: (x) => -x },
  { name: "TANH", since: floats, inputs: () => ["x"], compute: Math.tanh },
  { name: "LOGISTIC", since: floats, inputs: () => ["x"], compute: (x) => 1 / (1 + Math.exp(-x)) },
  {
    name: "RESHAPE",
    since: all,
    inputs: (dimensions) => ["x", constant("TENSOR_INT32", [dimensions.length], dimensions)],
    compute: (x) => x,
    hasFixedShape: true,
  },
];

/** The layouts of a model. `pair`: two of the operation side by side. `chain`: one after the other. */
export type Layout = "single" | "pair" | "chain";

/** Facts of a small model. */
export interface SmallModelFacts {
  readonly type: ElementType;
  /** Default: one operation. */
  readonly layout?: Layout;
  /** Extents of inputs; 0: unknown. Default [2, 3]. */
  readonly dimensions?: readonly number[];
  /** Extents of outputs. Default: those of the inputs. */
  readonly outputDimensions?: readonly number[];
  /** Scale of quantised types. Default 0.5. */
  readonly scale?: number;
  /** Default 0. */
  readonly zeroPoint?: number;
}

/** A model with the function that it computes. */
export interface SmallModel {
  /** Such as `RELU of TENSOR_FLOAT32 [2, 3]`. */
  readonly label: string;
  readonly model: Model;
  readonly type: ElementType;
  readonly dimensions: readonly number[];
  readonly operation: SmallOperation;
  /** The outputs that belong to inputs. */
  compute(inputs: readonly (readonly number[])[]): number[][];
}

/** Builds a model of an operation. */
export function buildSmallModel(operation: SmallOperation, facts: SmallModelFacts): SmallModel {
  const { type, layout = "single", dimensions = [2, 3], outputDimensions = dimensions } = facts;
  const graph = graphOf(operation, { ...facts, layout, dimensions, outputDimensions });
  const once = (values: readonly number[]) => values.map(operation.compute);
  return {
    label: `${operation.name} of ${type} [${dimensions.join(", ")}]`,
    model: modelOfGraphs(graph),
    type,
    dimensions,
    operation,
    compute: (inputs) => inputs.map((values) => (layout === "chain" ? once(once(values)) : once(values))),
  };
}

function graphOf(
  operation: SmallOperation,
  {
    type,
    layout,
    dimensions,
    outputDimensions,
    scale = 0.5,
    zeroPoint = 0,
  }: Required<Pick<SmallModelFacts, "layout" | "dimensions" | "outputDimensions">> & SmallModelFacts,
): ExampleSubgraph {
  const isQuantised = type.startsWith("TENSOR_QUANT");
  const like = (lifetime: ExampleOperand["lifetime"], extents: readonly number[]): ExampleOperand => ({
    ...operandOf(type, extents, lifetime),
    ...(isQuantised && { scale, zeroPoint }),
  });
  const operands: ExampleOperand[] = [];
  const operations: ExampleOperation[] = [];
  const add = (operand: ExampleOperand) => operands.push(operand) - 1;
  const operate = (x: number, output: number) => {
    const inputs = operation.inputs(dimensions).map((input) => (input === "x" ? x : add(input)));
    operations.push({ type: operation.name, inputs, outputs: [output] });
  };
  if (layout === "chain") {
    const [x, between, y] = [
      add(like("SUBGRAPH_INPUT", dimensions)),
      add(like("TEMPORARY_VARIABLE", dimensions)),
      add(like("SUBGRAPH_OUTPUT", outputDimensions)),
    ];
    operate(x, between);
    operate(between, y);
  } else {
    const count = layout === "pair" ? 2 : 1;
    const inputs = Array.from({ length: count }, () => add(like("SUBGRAPH_INPUT", dimensions)));
    const outputs = inputs.map(() => add(like("SUBGRAPH_OUTPUT", outputDimensions)));
    inputs.forEach((x, index) => {
      operate(x, elementAt(outputs, index));
    });
  }
  return { operands, operations, inputIndexes: [], outputIndexes: [] };
}

/** A model of graphs whose numbers of consumers, inputs and outputs follow from the rest. Constants lie in the model. */
export function modelOfGraphs(main: ExampleSubgraph, referenced: readonly ExampleSubgraph[] = []): Model {
  const example = {
    name: "",
    spec: "",
    isRelaxed: false,
    expectFailure: false,
    expectedMultinomialDistributionTolerance: 0,
    main: countConsumers(main),
    referenced: referenced.map(countConsumers),
  };
  return modelOf({ name: "", example, unspecifiedOutputs: false });
}

function countConsumers({ operands, operations }: ExampleSubgraph): ExampleSubgraph {
  const consumers = operands.map(() => 0);
  for (const { inputs } of operations) for (const index of inputs) consumers[index] = elementAt(consumers, index) + 1;
  const all = (lifetime: ExampleOperand["lifetime"]) =>
    operands.flatMap((operand, index) => (operand.lifetime === lifetime ? [index] : []));
  return {
    operands: operands.map((operand, index) => ({ ...operand, numberOfConsumers: elementAt(consumers, index) })),
    operations,
    inputIndexes: all("SUBGRAPH_INPUT"),
    outputIndexes: all("SUBGRAPH_OUTPUT"),
  };
}

/** An operand without a value. */
export function operandOf(
  type: ExampleOperand["type"],
  dimensions: readonly number[],
  lifetime: ExampleOperand["lifetime"],
): ExampleOperand {
  return {
    type,
    dimensions,
    scale: 0,
    zeroPoint: 0,
    lifetime,
    numberOfConsumers: 0,
    channelQuant: null,
    isIgnored: false,
    data: null,
  };
}

/** A constant that lies in the model. */
export function constant(
  type: ExampleOperand["type"],
  dimensions: readonly number[],
  values: readonly number[],
): ExampleOperand {
  return { ...operandOf(type, dimensions, "CONSTANT_COPY"), data: bytesOf(type, values) };
}

/** Elements of a type that differ from one another, and for another `salt` from others. Exact in every type. */
export function sampleValues(type: ElementType, count: number, salt = 0): number[] {
  const least = type === "TENSOR_QUANT8_ASYMM" ? 0 : -8;
  return Array.from({ length: count }, (_, index) => least + ((index * 5 + salt * 3) % 17));
}
