/**
 * A subgraph under validation: what the checks of its operations need to know of its operands.
 */
import {
  createData,
  elementCount,
  fromFloat16Bits,
  type MaybeType,
  type OperandInfo,
  type TensorData,
} from "@nnhal/operations";
import { type Operand, OperandLifeTime, type OperandTypeName, operandTypes, type Subgraph } from "@nnhal/types";
import type { ModelContext } from "./context.ts";
import type { Soundness } from "./operand.ts";
import { isBuffer } from "./structure.ts";
import { sizeOf } from "./type-ranges.ts";

/** See the file's head. */
export interface SubgraphView {
  /** The subgraph's path: `main` or `referenced[1]`. */
  readonly at: string;
  readonly subgraph: Subgraph;
  /** For each operand how far it can be trusted. */
  readonly soundness: readonly Soundness[];
  /** For each operand its type; undefined: an extension's. */
  readonly types: readonly MaybeType[];
  /** What operations' own rules are given of each operand: made when first asked for. */
  readonly infos: (OperandInfo | undefined)[];
}

/** An operand as the rules of operations see it; undefined for an extension's type. The operand is right. */
export function operandInfo(context: ModelContext, view: SubgraphView, index: number): OperandInfo | undefined {
  const type = view.types[index];
  if (type === undefined) return undefined;
  view.infos[index] ??= new OperandFacts(type, view.subgraph.operands[index], context);
  return view.infos[index];
}

/**
 * What is known of an operand. A class, since a model has many operands whose constants are not read: their elements are
 * decoded when they are first asked for.
 */
class OperandFacts implements OperandInfo {
  readonly type: OperandTypeName;
  readonly dimensions: readonly number[];
  readonly scale: number;
  readonly zeroPoint: number;
  readonly channelQuant: OperandInfo["channelQuant"];
  readonly #operand: Operand;
  readonly #context: ModelContext;
  #data: TensorData | undefined;
  #isDecoded = false;

  constructor(type: OperandTypeName, operand: Operand, context: ModelContext) {
    this.type = type;
    this.dimensions = operand.dimensions;
    this.scale = operand.scale;
    this.zeroPoint = operand.zeroPoint;
    this.channelQuant = operand.extraParams.kind === "channelQuant" ? operand.extraParams.channelQuant : undefined;
    this.#operand = operand;
    this.#context = context;
  }

  get data(): TensorData | undefined {
    if (!this.#isDecoded) {
      this.#isDecoded = true;
      const bytes = constantBytes(this.#context, this.#operand);
      if (bytes !== undefined) this.#data = decode(this.type, bytes, this.dimensions);
    }
    return this.#data;
  }
}

/** The bytes of a constant; undefined for other operands, and where they are not in this process's memory. */
function constantBytes({ operandValues, pools }: ModelContext, { lifetime, location }: Operand): Uint8Array | undefined {
  const { poolIndex, offset, length } = location;
  if (lifetime === OperandLifeTime.CONSTANT_COPY) return operandValues.subarray(offset, offset + length);
  if (lifetime !== OperandLifeTime.CONSTANT_REFERENCE) return undefined;
  const handle = pools[poolIndex]?.handle;
  if (handle?.kind !== "buffer" || !isBuffer(handle.buffer)) return undefined;
  const start = handle.byteOffset + offset;
  return start >= 0 && start + length <= handle.buffer.byteLength
    ? new Uint8Array(handle.buffer, start, length)
    : undefined;
}

/** The elements of a constant; undefined where there are fewer bytes than elements, or the type has no elements. */
function decode(type: OperandTypeName, bytes: Uint8Array, dimensions: readonly number[]): TensorData | undefined {
  const size = sizeOf(operandTypes[type], dimensions);
  if (size === 0 || bytes.length < size) return undefined;
  const data = createData(type, elementCount(dimensions));
  if (type === "FLOAT16" || type === "TENSOR_FLOAT16") {
    for (let index = 0; index < data.length; index++) {
      data[index] = fromFloat16Bits(bytes[2 * index] | (bytes[2 * index + 1] << 8));
    }
  } else new Uint8Array(data.buffer).set(bytes.subarray(0, size));
  return data;
}
