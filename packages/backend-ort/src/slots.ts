/**
 * The tensors of onnxruntime over the memory of requests. A slot has the tensors of one run. It is used again, and its tensors too if
 * the next request has the same memory, so that a run allocates nothing.
 */
import { elementAt, elementCount } from "@nnhal/operations";
import type { Tensor } from "onnxruntime-node";
import type { Ort } from "./engine.ts";
import type { Wire } from "./lower.ts";
import type { ElementType } from "./onnx/types.ts";

/** The tensors of one run. */
export interface Slot {
  readonly feeds: Record<string, Tensor>;
  readonly fetches: Record<string, Tensor>;
  /** True while a run uses it. */
  isTaken: boolean;
  /** Sets the memory of an input. `bytes` must not change before the run has ended. */
  setInput(position: number, bytes: Uint8Array): void;
  /** Sets the memory of an output, which is large enough. */
  setOutput(position: number, bytes: Uint8Array): void;
  /** Copies the outputs that the engine could not write in place. */
  finish(): void;
}

/** The slots of a session. */
export interface Slots {
  /** Takes a slot that no run uses. */
  take(): Slot;
  /** Gives a slot back when its run has ended. */
  give(slot: Slot): void;
  /** Frees the memory of slots; of those that runs use, when they have ended. */
  clear(): void;
}

/** Creates the slots of a session; there are none at first. */
export function createSlots(ort: Ort, inputs: readonly (Wire | undefined)[], outputs: readonly Wire[]): Slots {
  let all: Slot[] = [];
  return {
    take() {
      // A list that runs empty and full again would allocate its room each time.
      for (let index = 0; index < all.length; index++) {
        const slot = elementAt(all, index);
        if (slot.isTaken) continue;
        slot.isTaken = true;
        return slot;
      }
      const slot = createSlot(ort, inputs, outputs);
      all.push(slot);
      return slot;
    },
    give(slot) {
      slot.isTaken = false;
    },
    clear() {
      all = [];
    },
  };
}

function createSlot(ort: Ort, inputs: readonly (Wire | undefined)[], outputs: readonly Wire[]): Slot {
  const feeds: Record<string, Tensor> = {};
  const fetches: Record<string, Tensor> = {};
  const from = inputs.map((wire) => wire && createPlace(ort, wire, feeds));
  const to = outputs.map((wire) => createPlace(ort, wire, fetches));
  return {
    feeds,
    fetches,
    isTaken: true,
    setInput: (position, bytes) => elementAt(from, position)?.put(bytes),
    setOutput: (position, bytes) => elementAt(to, position).bind(bytes),
    finish() {
      for (let position = 0; position < to.length; position++) elementAt(to, position).take();
    },
  };
}

/** The tensor of one input or output. */
interface Place {
  /** Binds the tensor to some bytes; to memory of its own if the engine cannot use them in place. */
  bind(bytes: Uint8Array): void;
  /** Binds the tensor to some bytes, and copies them if need be. */
  put(bytes: Uint8Array): void;
  /** Copies the tensor's own memory, if it has some, to the bytes. */
  take(): void;
}

function createPlace(ort: Ort, { name, type, dims: extents }: Wire, tensors: Record<string, Tensor>): Place {
  const dims = [...extents];
  const Elements = arrays[type];
  const length = elementCount(dims);
  const byteLength = length * Elements.BYTES_PER_ELEMENT;
  let bound: { readonly buffer: ArrayBufferLike; readonly byteOffset: number } | undefined;
  /** Memory of the place itself, with the bytes of the request that it stands for. */
  let own: { readonly bytes: Uint8Array; tensor: Tensor } | undefined;
  let asked: Uint8Array | undefined;
  const tensorOver = (buffer: ArrayBuffer, byteOffset: number) =>
    new ort.Tensor(type, new Elements(buffer, byteOffset, length), dims);
  const bind = (bytes: Uint8Array): void => {
    const { buffer, byteOffset } = bytes;
    if (buffer instanceof ArrayBuffer && byteOffset % Elements.BYTES_PER_ELEMENT === 0) {
      asked = undefined;
      if (bound?.buffer === buffer && bound.byteOffset === byteOffset) return;
      tensors[name] = tensorOver(buffer, byteOffset);
      bound = { buffer, byteOffset };
      return;
    }
    if (own === undefined) {
      const memory = new Uint8Array(byteLength);
      own = { bytes: memory, tensor: tensorOver(memory.buffer, 0) };
    }
    asked = bytes;
    bound = undefined;
    tensors[name] = own.tensor;
  };
  return {
    bind,
    put(bytes) {
      bind(bytes);
      if (asked !== undefined) own?.bytes.set(asked.subarray(0, byteLength));
    },
    take() {
      if (asked !== undefined && own !== undefined) asked.set(own.bytes);
    },
  };
}

/** The typed arrays that onnxruntime takes for its types. */
const arrays = {
  float32: Float32Array,
  uint8: Uint8Array,
  int8: Int8Array,
  uint16: Uint16Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  bool: Uint8Array,
  float16: Uint16Array,
  uint32: Uint32Array,
} satisfies Readonly<Record<ElementType, unknown>>;
