/** A loaded model that computes one request at a time: in a separate thread, or in a daemon. */

import { decodeStringBytes } from "@nnhal/extension-tflite";
import { type LoadOptions, load, type Model, NetworkError, type RunTiming, type TensorInfo } from "@nnhal/network";
import { arrayOf, type Datatype, datatypeOf } from "./datatypes.ts";
import { RequestError } from "./errors.ts";
import { countOf, type Tensor } from "./tensors.ts";

/** Protocol's description of an input or output. -1 is an open extent. */
export interface TensorMetadata {
  readonly name: string;
  readonly datatype: Datatype;
  readonly shape: readonly number[];
}

/** An input or output of a model. */
export interface ServedTensor extends TensorMetadata {
  readonly info: TensorInfo;
}

/** Description of a model. */
export interface ModelDescription {
  readonly inputs: readonly ServedTensor[];
  readonly outputs: readonly ServedTensor[];
  readonly devices: readonly string[];
  readonly signatures: readonly string[];
  /** True if a run depends on the one before. */
  readonly hasState: boolean;
}

/** Options of one run. */
export interface RunLimits {
  /** Milliseconds that the device may take. */
  readonly timeout?: number | undefined;
  /** If true, the memory of the inputs may move to another thread; it is empty here then. Default: false. */
  readonly isOwned?: boolean;
  readonly onTiming?: ((timing: RunTiming) => void) | undefined;
  /** When it aborts, the run rejects with its reason, and ends at the next pause of the device. */
  readonly signal?: AbortSignal | undefined;
  /** Called once when no part of the run computes any more, which may be after it has rejected. */
  readonly onEnd?: (() => void) | undefined;
}

/** A model that is ready. */
export interface Runner {
  readonly description: ModelDescription;
  /** Computes all outputs, in the model's order, from inputs in the model's order. Rejects with a RequestError. */
  run(inputs: readonly Tensor[], limits: RunLimits): Promise<readonly Tensor[]>;
  /** Resolves with true if it can compute again after a failure. */
  isAlive(): Promise<boolean>;
  close(): Promise<void>;
}

/** Loads a model. Rejects if it cannot be served. */
export async function openRunner(file: string, options: LoadOptions): Promise<Runner> {
  const model = await load(file, options);
  try {
    return runnerOf(model);
  } catch (error) {
    await model.close();
    throw error;
  }
}

function runnerOf(model: Model): Runner {
  const description: ModelDescription = {
    inputs: model.inputs.map(servedTensor),
    outputs: model.outputs.map(servedTensor),
    devices: model.devices,
    signatures: model.signatures,
    hasState: model.state.infos.length > 0,
  };
  return {
    description,
    async run(inputs, { isOwned, ...limits }) {
      const named = inputs.map(({ name, content, shape }) => [name, { data: content, shape }] as const);
      try {
        const outputs = await model.run(Object.fromEntries(named), { raw: true, transfer: isOwned, ...limits });
        return description.outputs.map(({ name, datatype }) => {
          const { data, shape } = outputs[name] ?? outputs.output;
          if (datatype !== "BYTES") return { name, datatype, shape, content: data };
          return { name, datatype, shape, content: stringsIn(bytesIn(data), shape) };
        });
      } catch (error) {
        throw error instanceof NetworkError ? requestErrorOf(error) : error;
      }
    },
    async isAlive() {
      try {
        await model.explain();
        return true;
      } catch {
        return false;
      }
    },
    close: () => model.close(),
  };
}

function servedTensor(info: TensorInfo): ServedTensor {
  const datatype = datatypeOf(info.type);
  if (datatype === undefined) {
    throw new Error(`the tensor "${info.name}" has the type ${info.type}, which the protocol does not have`);
  }
  return { name: info.name, datatype, shape: info.shape.map((extent) => (extent === 0 ? -1 : extent)), info };
}

function bytesIn({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Returns the strings of rows of equal length. */
function stringsIn(bytes: Uint8Array, shape: readonly number[]): readonly Uint8Array[] {
  const count = countOf(shape);
  if (count === 0) return [];
  return decodeStringBytes({ bytes, dimensions: [...shape, bytes.length / count] });
}

function requestErrorOf(error: NetworkError): RequestError {
  const { code, message } = error;
  const options = { cause: error };
  if (code === "TIMED_OUT") return new RequestError("late", message, options);
  if (code === "CLOSED") return new RequestError("unavailable", message, options);
  return new RequestError(code.startsWith("WRONG_") ? "invalid" : "failed", message, options);
}

/** Inputs of zeros for a model, with 1 for each open extent. */
export function zeroInputs({ inputs }: ModelDescription): readonly Tensor[] {
  return inputs.map(({ name, datatype, info, shape: open }) => {
    const shape = open.map((extent) => (extent < 0 ? 1 : extent));
    return { name, datatype, shape, content: zeros(datatype, info, countOf(shape)) };
  });
}

function zeros(datatype: Datatype, { quantization }: TensorInfo, count: number): Tensor["content"] {
  if (datatype === "BYTES") return Array.from({ length: count }, () => new Uint8Array());
  const zero = quantization?.zeroPoint ?? 0;
  const elements = new (arrayOf(datatype))(count);
  if (elements instanceof BigInt64Array || elements instanceof BigUint64Array) return elements;
  return elements.fill(zero);
}
