/**
 * Runs one operation of the extension as a device does: as a model that is validated, compiled by the reference engine and executed.
 */
import { viewModel } from "@nnhal/backend";
import { createReferenceBackend } from "@nnhal/backend-reference";
import {
  type AnyOperandType,
  type AnyTensorData,
  byteLength,
  decodeTensorData,
  elementCount,
  encodeTensorData,
  extensionCode,
  isExtensionType,
} from "@nnhal/operations";
import {
  ErrorStatus,
  type Model,
  type Operand,
  type OperandExtraParams,
  OperandLifeTime,
  OperandType,
  type SymmPerChannelQuantParams,
} from "@nnhal/types";
import { modelIssues } from "@nnhal/validation";
import { isQuantised } from "./_elements.ts";
import { tfliteExtension } from "./extension.ts";

/** An input of a test. */
export interface GivenInput {
  readonly type: AnyOperandType;
  readonly dimensions: readonly number[];
  readonly data: AnyTensorData;
  readonly scale?: number;
  readonly zeroPoint?: number;
  readonly channelQuant?: SymmPerChannelQuantParams;
  /** True if it is a constant of the model. Default: an input of the graph, except for scalars. */
  readonly isConstant?: boolean;
  /** True if it is omitted, as an operand of its type. */
  readonly isOmitted?: boolean;
}

/** Output as the model declares it. Default dimensions: unknown. */
export interface DeclaredOutput {
  readonly type: AnyOperandType;
  readonly dimensions?: readonly number[];
  readonly scale?: number;
  readonly zeroPoint?: number;
}

/** A result. */
export interface Result {
  readonly dimensions: readonly number[];
  readonly data: AnyTensorData;
}

const { CONSTANT_COPY, NO_VALUE, SUBGRAPH_INPUT, SUBGRAPH_OUTPUT } = OperandLifeTime;
const prefix = 1;
const mostBytes = 1 << 20;

const session = await createReferenceBackend({ extensions: [tfliteExtension] }).open();
if ("unavailable" in session) throw new Error(session.unavailable);
const engine = session;

/** An INT32 scalar. */
export const int32 = (value: number): GivenInput => ({ type: "INT32", dimensions: [], data: Int32Array.of(value) });
/** A FLOAT32 scalar. */
export const float32 = (value: number): GivenInput => ({
  type: "FLOAT32",
  dimensions: [],
  data: Float32Array.of(value),
});
/** A BOOL scalar. */
export const bool = (value: boolean): GivenInput => ({
  type: "BOOL",
  dimensions: [],
  data: Uint8Array.of(value ? 1 : 0),
});

/** A tensor that is left out. Default type: TENSOR_FLOAT32. */
export const omit = (type: AnyOperandType = "TENSOR_FLOAT32"): GivenInput => ({
  type,
  dimensions: [],
  data: new Uint8Array(),
  ...(isQuantised(type) && { scale: 1 }),
  isOmitted: true,
});

/**
 * The outputs of an operation, by its name, for an operand list; undefined: an omitted operand. Throws an Error with the first issue if
 * the model is not valid, and with the message of the engine if the execution fails.
 */
export async function runOperation(
  name: string,
  inputs: readonly (GivenInput | undefined)[],
  outputs: readonly DeclaredOutput[],
): Promise<Result[]> {
  const { model, args } = modelOf(name, inputs, outputs);
  const [issue] = modelIssues(model, { mode: "runtime", extensions: [tfliteExtension] });
  if (issue !== undefined) throw new Error(`${issue.path}: ${issue.message}`);
  const graph = viewModel({ model, pools: [], extensions: [tfliteExtension] });
  const executable = await engine.compile(graph, { preference: 1, priority: 1 });
  const places = outputs.map(({ dimensions = [] }) => ({ bytes: new Uint8Array(mostBytes), dimensions }));
  const result = await executable.run(
    args.map(({ type, dimensions, data }) => ({ bytes: bytesOf(type, dimensions, data), dimensions })),
    places,
    { now: () => 0n, random: () => 0.5, loopTimeoutDuration: 10n ** 12n, measure: false },
  );
  executable.close();
  if (result.status !== ErrorStatus.NONE) throw new Error(result.message);
  return outputs.map(({ type }, index) => {
    const { dimensions } = result.outputShapes[index];
    const count = elementCount(dimensions);
    return { dimensions, data: decodeTensorData(type, places[index].bytes.slice(0, byteLength(type, count)), count) };
  });
}

function bytesOf(type: AnyOperandType, dimensions: readonly number[], data: AnyTensorData): Uint8Array {
  const bytes = new Uint8Array(byteLength(type, elementCount(dimensions)));
  encodeTensorData(type, data, bytes);
  return bytes;
}

function modelOf(
  name: string,
  inputs: readonly (GivenInput | undefined)[],
  outputs: readonly DeclaredOutput[],
): { readonly model: Model; readonly args: readonly GivenInput[] } {
  const operation = tfliteExtension.operations.find((each) => each.name === name);
  if (operation === undefined) throw new RangeError(`the extension has no operation ${name}`);
  const values: number[] = [];
  const args: GivenInput[] = [];
  const types = operation.forms[0].params;
  const operands: Operand[] = inputs.map((input, position) => {
    if (input === undefined) return operandOf({ type: types[position]?.type ?? "TENSOR_FLOAT32" }, NO_VALUE);
    if (input.isOmitted) return operandOf(input, NO_VALUE);
    const isConstant = input.isConstant ?? (!isExtensionType(input.type) && !input.type.startsWith("TENSOR_"));
    if (!isConstant) {
      args.push(input);
      return operandOf(input, SUBGRAPH_INPUT);
    }
    const bytes = bytesOf(input.type, input.dimensions, input.data);
    const location = { poolIndex: 0, offset: values.length, length: bytes.length };
    values.push(...bytes);
    return { ...operandOf(input, CONSTANT_COPY), location };
  });
  for (const output of outputs) operands.push(operandOf(output, SUBGRAPH_OUTPUT));
  const indexes = (lifetime: number) =>
    operands.flatMap((operand, index) => (operand.lifetime === lifetime ? [index] : []));
  const first = inputs.length;
  const model: Model = {
    main: {
      operands: operands.map((operand, index) => ({ ...operand, numberOfConsumers: index < first ? 1 : 0 })),
      operations: [
        {
          type: extensionCode(prefix, operation.code),
          inputs: inputs.map((_, index) => index),
          outputs: outputs.map((_, index) => first + index),
        },
      ],
      inputIndexes: indexes(SUBGRAPH_INPUT),
      outputIndexes: indexes(SUBGRAPH_OUTPUT),
    },
    referenced: [],
    operandValues: Uint8Array.from(values),
    pools: [],
    relaxComputationFloat32toFloat16: false,
    extensionNameToPrefix: [{ name: tfliteExtension.name, prefix }],
  };
  return { model, args };
}

function operandOf(
  { type, dimensions = [], scale = 0, zeroPoint = 0, channelQuant }: DeclaredOutput & Partial<GivenInput>,
  lifetime: number,
): Operand {
  const extraParams: OperandExtraParams =
    channelQuant === undefined ? { kind: "none" } : { kind: "channelQuant", channelQuant };
  return {
    type: isExtensionType(type) ? extensionCode(prefix, type.code) : OperandType[type],
    dimensions,
    numberOfConsumers: 0,
    scale,
    zeroPoint,
    lifetime: lifetime as Operand["lifetime"],
    location: { poolIndex: 0, offset: 0, length: 0 },
    extraParams,
  };
}
