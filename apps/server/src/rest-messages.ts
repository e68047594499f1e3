/** Inference requests and responses of REST: JSON, with the bytes of tensors behind it. */
import { Buffer } from "node:buffer";
import { expectValid, messageOf } from "./errors.ts";
import { checkJson } from "./json-limits.ts";
import {
  headOf,
  type InferRequest,
  type InferResponse,
  inputText,
  type Parameters,
  requestedOutput,
  timeoutOf,
} from "./request.ts";
import { bytesOf, checkStrings, contentOfBytes, contentOfJson, jsonTextOf, type Tensor } from "./tensors.ts";

/** Header with the length of the JSON, if bytes follow it. */
export const lengthHeader = "inference-header-content-length";

type JsonObject = Readonly<Record<string, unknown>>;

/** Reads the body of a request; `header`: the length of its JSON. Throws a RequestError. */
export function inferRequestOf(body: Uint8Array, header: string | undefined): InferRequest {
  const length = jsonLengthOf(body, header);
  const request = jsonObjectOf(body.subarray(0, length));
  const { id = "", inputs, outputs } = request;
  expectValid(typeof id === "string", () => "the id of the request is not a string");
  expectValid(Array.isArray(inputs), () => "the request has no list of inputs");
  const parameters = parametersOf(request, "the request");
  const { binary_data_output: binary = false } = parameters;
  expectValid(typeof binary === "boolean", () => `the parameter binary_data_output is ${binary}, not a boolean`);
  let rest = body.subarray(length);
  const heads = inputs.map((input: unknown) => {
    expectValid(isObject(input), () => "an input is not an object");
    return { input, head: headOf(input.name, input.datatype, input.shape) };
  });
  checkStrings(heads.map(({ head }) => head));
  const tensors = heads.map(({ input, head }): Tensor => {
    const what = inputText(head.name);
    const { binary_data_size: size } = parametersOf(input, what);
    if (size === undefined) {
      return { ...head, content: contentOfJson(head.datatype, head.shape, input.data, what) };
    }
    expectValid(input.data === undefined, () => `${what} has data in JSON and a binary_data_size`);
    expectValid(
      typeof size === "number" && Number.isSafeInteger(size) && size >= 0 && size <= rest.length,
      () => `${what}: its binary_data_size is ${size}; ${rest.length} bytes follow`,
    );
    const bytes = rest.subarray(0, size);
    rest = rest.subarray(size);
    return { ...head, content: contentOfBytes(head.datatype, head.shape, bytes, what) };
  });
  expectValid(rest.length === 0, () => `${rest.length} bytes after the JSON belong to no input`);
  return { id, inputs: tensors, outputs: outputsOf(outputs, binary), binary, timeout: timeoutOf(parameters) };
}

/** Parses a body as a JSON object; an empty one is {}. Throws a RequestError. */
export function jsonObjectOf(body: Uint8Array): JsonObject {
  if (body.length === 0) return {};
  checkJson(body);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (error) {
    expectValid(false, () => `the body is not JSON: ${messageOf(error)}`);
  }
  expectValid(isObject(value), () => "the body is not an object of JSON");
  return value;
}

function jsonLengthOf(body: Uint8Array, header: string | undefined): number {
  if (header === undefined) return body.length;
  const length = Number(header);
  expectValid(
    /^\d{1,15}$/.test(header) && length <= body.length,
    () => `Inference-Header-Content-Length is "${header}"; the body has ${body.length} bytes`,
  );
  return length;
}

function outputsOf(outputs: unknown, binary: boolean): InferRequest["outputs"] {
  if (outputs === undefined) return undefined;
  expectValid(Array.isArray(outputs), () => "the outputs of the request are not a list");
  return outputs.map((output: unknown) => {
    expectValid(isObject(output), () => "a requested output is not an object");
    return requestedOutput(output.name, parametersOf(output, "a requested output"), binary);
  });
}

function parametersOf({ parameters = {} }: JsonObject, what: string): Parameters {
  expectValid(isObject(parameters), () => `${what}: its parameters are not an object`);
  const isParameters = (value: JsonObject): value is Parameters =>
    Object.values(value).every((each) => ["string", "number", "boolean"].includes(typeof each));
  expectValid(isParameters(parameters), () => `${what}: a parameter is not a string, a number or a boolean`);
  return parameters;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Selection of the outputs to return as bytes. */
export type Wanted = Pick<InferRequest, "outputs" | "binary">;

/** The body of a response. `jsonLength` is present if bytes follow the JSON. */
export interface RestBody {
  readonly body: Buffer;
  readonly jsonLength: number | undefined;
}

/** Writes a response; the outputs that the request wants as bytes follow the JSON. */
export function bodyOf({ model, version, id, outputs }: InferResponse, wanted: Wanted): RestBody {
  const binaries: Uint8Array[] = [];
  const isBinary = (name: string) => wanted.outputs?.find((one) => one.name === name)?.binary ?? wanted.binary;
  const texts = outputs.map((tensor) => {
    const { name, datatype, shape } = tensor;
    const head = `{"name":${JSON.stringify(name)},"datatype":"${datatype}","shape":[${shape}]`;
    if (!isBinary(name)) return `${head},"data":${jsonTextOf(tensor)}}`;
    const bytes = bytesOf(tensor);
    binaries.push(bytes);
    return `${head},"parameters":{"binary_data_size":${bytes.length}}}`;
  });
  const about = { model_name: model, model_version: version, ...(id !== "" && { id }) };
  const json = Buffer.from(`${JSON.stringify(about).slice(0, -1)},"outputs":[${texts}]}`);
  if (binaries.length === 0) return { body: json, jsonLength: undefined };
  return { body: Buffer.concat([json, ...binaries]), jsonLength: json.length };
}
