/** Inference requests and responses of gRPC, as @grpc/proto-loader reads and writes them: integers of 64 bits are decimal text. */
import { Buffer } from "node:buffer";
import { arrayOf, type Datatype } from "./datatypes.ts";
import { expectValid } from "./errors.ts";
import {
  headOf,
  type InferRequest,
  type InferResponse,
  inputText,
  type Parameters,
  requestedOutput,
  timeoutOf,
} from "./request.ts";
import {
  bytesOf,
  type Content,
  contentOfBytes,
  contentOfJson,
  countOf,
  isByteList,
  numbersOf,
  type Tensor,
} from "./tensors.ts";

/** A value of a parameter; `parameter_choice` names the member that is set. */
export interface InferParameter {
  readonly parameter_choice?: "bool_param" | "int64_param" | "string_param" | "double_param" | "uint64_param";
  readonly bool_param?: boolean;
  readonly int64_param?: string;
  readonly string_param?: string;
  readonly double_param?: number;
  readonly uint64_param?: string;
}

type ParameterMap = Readonly<Record<string, InferParameter>>;

/** The lists of elements; those that are not used are empty. */
export interface InferTensorContents {
  readonly bool_contents?: readonly boolean[];
  readonly int_contents?: readonly number[];
  readonly int64_contents?: readonly string[];
  readonly uint_contents?: readonly number[];
  readonly uint64_contents?: readonly string[];
  readonly fp32_contents?: readonly number[];
  readonly fp64_contents?: readonly number[];
  readonly bytes_contents?: readonly Buffer[];
}

export interface ModelInferRequest {
  readonly model_name: string;
  readonly model_version: string;
  readonly id: string;
  readonly parameters: ParameterMap;
  readonly inputs: readonly {
    readonly name: string;
    readonly datatype: string;
    readonly shape: readonly string[];
    readonly parameters: ParameterMap;
    readonly contents: InferTensorContents | null;
  }[];
  readonly outputs: readonly { readonly name: string; readonly parameters: ParameterMap }[];
  readonly raw_input_contents: readonly Buffer[];
}

export interface ModelInferResponse {
  readonly model_name: string;
  readonly model_version: string;
  readonly id: string;
  readonly outputs: readonly {
    readonly name: string;
    readonly datatype: string;
    readonly shape: readonly string[];
    readonly contents?: InferTensorContents;
  }[];
  readonly raw_output_contents: readonly Uint8Array[];
}

/** The list that has the elements of a datatype; undefined for FP16, which has only the raw form. */
const listOf: Readonly<Record<Datatype, keyof InferTensorContents | undefined>> = {
  BOOL: "bool_contents",
  UINT8: "uint_contents",
  UINT16: "uint_contents",
  UINT32: "uint_contents",
  UINT64: "uint64_contents",
  INT8: "int_contents",
  INT16: "int_contents",
  INT32: "int_contents",
  INT64: "int64_contents",
  FP16: undefined,
  FP32: "fp32_contents",
  FP64: "fp64_contents",
  BYTES: "bytes_contents",
};

/** Reads a request. Throws a RequestError. */
export function inferRequestOfMessage(message: ModelInferRequest): InferRequest {
  const { id, inputs, outputs, raw_input_contents: raw } = message;
  expectValid(
    raw.length === 0 || raw.length === inputs.length,
    () => `there are ${raw.length} raw_input_contents for ${inputs.length} inputs`,
  );
  const tensors = inputs.map(({ name, datatype, shape, contents }, place): Tensor => {
    const head = headOf(name, datatype, shape.map(Number));
    const what = inputText(name);
    const bytes = raw[place];
    if (bytes === undefined)
      return { ...head, content: contentOfLists(head.datatype, head.shape, contents ?? {}, what) };
    const isAlone = Object.values(contents ?? {}).every((list) => list.length === 0);
    expectValid(isAlone, () => `${what} has contents although raw_input_contents are given`);
    return { ...head, content: contentOfBytes(head.datatype, head.shape, bytes, what) };
  });
  const requested = outputs.map((output) => requestedOutput(output.name, parametersOf(output.parameters), false));
  return {
    id,
    inputs: tensors,
    outputs: requested.length === 0 ? undefined : requested,
    binary: raw.length > 0,
    timeout: timeoutOf(parametersOf(message.parameters)),
  };
}

function contentOfLists(
  datatype: Datatype,
  shape: readonly number[],
  contents: InferTensorContents,
  what: string,
): Content {
  const wanted = listOf[datatype];
  expectValid(wanted !== undefined, () => `${what}: ${datatype} has only the form of raw_input_contents`);
  for (const [name, list] of Object.entries(contents)) {
    expectValid(
      name === wanted || list.length === 0,
      () => `${what}: ${name} are not those of ${datatype}, which are ${wanted}`,
    );
  }
  const list = contents[wanted] ?? [];
  const count = countOf(shape);
  expectValid(
    list.length === count,
    () => `${what}: its shape [${shape}] has ${count} elements, ${wanted} ${list.length}`,
  );
  if (wanted === "bytes_contents") return contents.bytes_contents ?? [];
  // The decoder has seen to the types of these, so only what is narrower than they are is checked.
  if (datatype === "FP32" || datatype === "FP64") {
    const elements = new (arrayOf(datatype))(count);
    if (!(elements instanceof BigInt64Array || elements instanceof BigUint64Array)) elements.set(list.map(Number));
    return elements;
  }
  return contentOfJson(datatype, [count], list, what);
}

function parametersOf(map: ParameterMap): Parameters {
  const pairs = Object.entries(map).flatMap(([name, value]) => {
    const { parameter_choice: choice } = value;
    const chosen = choice === undefined ? undefined : value[choice];
    if (chosen === undefined) return [];
    return [[name, choice === "int64_param" || choice === "uint64_param" ? Number(chosen) : chosen] as const];
  });
  return Object.fromEntries(pairs);
}

/** Writes a response: in the raw form if the request had it, or an output has no other. */
export function messageOfResponse({ model, version, id, outputs }: InferResponse, isRaw: boolean): ModelInferResponse {
  const raw = isRaw || outputs.some(({ datatype }) => listOf[datatype] === undefined);
  return {
    model_name: model,
    model_version: version,
    id,
    outputs: outputs.map((tensor) => {
      const { name, datatype, shape } = tensor;
      return { name, datatype, shape: shape.map(String), ...(!raw && { contents: listsOf(tensor) }) };
    }),
    raw_output_contents: raw ? outputs.map(bytesOf) : [],
  };
}

function listsOf({ datatype, content }: Tensor): InferTensorContents {
  if (isByteList(content)) return { bytes_contents: content.map((bytes) => Buffer.from(bytes)) };
  const list = listOf[datatype];
  if (list === undefined) return {};
  const numbers = numbersOf(datatype, content);
  if (datatype === "BOOL") return { bool_contents: numbers.map((number) => number !== 0) };
  return { [list]: datatype.endsWith("64") && datatype !== "FP64" ? numbers.map(String) : numbers };
}
