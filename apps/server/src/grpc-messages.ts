/** Inference requests of gRPC from their messages, and responses as @grpc/proto-loader writes them: integers of 64 bits are decimal text. */
import { Buffer } from "node:buffer";
import type { ElementArray } from "@nnhal/network";
import { arrayOf, type Datatype, type NumericDatatype } from "./datatypes.ts";
import { expectValid } from "./errors.ts";
import type { InferMessage, ListContents, ListName } from "./infer-message.ts";
import { headOf, type InferRequest, type InferResponse, inputText, requestedOutput, timeoutOf } from "./request.ts";
import {
  bytesOf,
  type Content,
  checkStrings,
  contentOfBytes,
  countOf,
  isByteList,
  numbersOf,
  type Tensor,
} from "./tensors.ts";

/** The lists of elements of a response; those that are not used are absent. */
interface InferTensorContents {
  readonly bool_contents?: readonly boolean[];
  readonly int_contents?: readonly number[];
  readonly int64_contents?: readonly string[];
  readonly uint_contents?: readonly number[];
  readonly uint64_contents?: readonly string[];
  readonly fp32_contents?: readonly number[];
  readonly fp64_contents?: readonly number[];
  readonly bytes_contents?: readonly Buffer[];
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

/** Maps each datatype to the list with its elements; undefined for FP16, which has only the raw form. */
const listOf: Readonly<Record<Datatype, ListName | undefined>> = {
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

/** Reads the request of a message. Throws a RequestError. */
export function inferRequestOfMessage({ id, inputs, outputs, raw, parameters }: InferMessage): InferRequest {
  expectValid(
    raw.length === 0 || raw.length === inputs.length,
    () => `there are ${raw.length} raw_input_contents for ${inputs.length} inputs`,
  );
  const heads = inputs.map(({ name, datatype, shape }) => headOf(name, datatype, shape));
  checkStrings(heads);
  const tensors = heads.map((head, place): Tensor => {
    const what = inputText(head.name);
    const contents = inputs[place]?.contents ?? new Map<ListName, ListContents>();
    const bytes = raw[place];
    if (bytes === undefined) return { ...head, content: contentOfLists(head.datatype, head.shape, contents, what) };
    expectValid(contents.size === 0, () => `${what} has contents although raw_input_contents are given`);
    return { ...head, content: contentOfBytes(head.datatype, head.shape, bytes, what) };
  });
  const requested = outputs.map((output) => requestedOutput(output.name, output.parameters, false));
  return {
    id,
    inputs: tensors,
    outputs: requested.length === 0 ? undefined : requested,
    binary: raw.length > 0,
    timeout: timeoutOf(parameters),
  };
}

function contentOfLists(
  datatype: Datatype,
  shape: readonly number[],
  contents: ReadonlyMap<ListName, ListContents>,
  what: string,
): Content {
  const wanted = listOf[datatype];
  expectValid(wanted !== undefined, () => `${what}: ${datatype} has only the form of raw_input_contents`);
  for (const name of contents.keys()) {
    expectValid(name === wanted, () => `${what}: ${name} are not those of ${datatype}, which are ${wanted}`);
  }
  const list = contents.get(wanted) ?? [];
  const count = countOf(shape);
  expectValid(
    list.length === count,
    () => `${what}: its shape [${shape}] has ${count} elements, ${wanted} ${list.length}`,
  );
  if (datatype === "BYTES") return isByteList(list) ? list : [];
  return isByteList(list) ? new (arrayOf(datatype))(0) : narrow(datatype, list, what);
}

/** Converts elements of a list to a datatype, which may be narrower than the list's. */
function narrow(datatype: NumericDatatype, list: ElementArray, what: string): ElementArray {
  const array = arrayOf(datatype);
  if (list instanceof array) return list;
  const content = new array(list.length);
  if (content instanceof BigInt64Array || content instanceof BigUint64Array) return content;
  if (list instanceof BigInt64Array || list instanceof BigUint64Array) return content;
  for (const [index, given] of list.entries()) {
    const value = datatype === "BOOL" ? Math.min(Math.abs(given), 1) : given;
    content[index] = value;
    expectValid(content[index] === value, () => `${what}: ${value} is not a value of ${datatype}`);
  }
  return content;
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
