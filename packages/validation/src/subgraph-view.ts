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
  /** What operations' own rules are given of an operand: made when first asked for. */
  readonly infos: (OperandInfo | undefined)[];
}

/** An operand as the rules of operations see it; undefined for an extension's type. The operand is right. */
export function operandInfo(context: ModelContext, view: SubgraphView, index: number): OperandInfo | undefined {
  const type = view.types[index];
  if (type === undefined) return undefined;
  view.infos[index] ??= createInfo(context, view.subgraph.operands[index], type);
  return view.infos[index];
}

function createInfo(context: ModelContext, operand: Operand, type: OperandTypeName): OperandInfo {
  const { dimensions, scale, zeroPoint, extraParams } = operand;
  const channelQuant = extraParams.kind === "channelQuant" ? extraParams.channelQuant : undefined;
  const info = { type, dimensions, scale, zeroPoint, ...(channelQuant && { channelQuant }) };
  const bytes = constantBytes(context, operand);
  if (bytes === undefined) return info;
  let data: TensorData | undefined;
  return {
    ...info,
    get data() {
      data ??= decode(type, bytes, dimensions);
      return data;
    },
  };
}

/** The bytes of a constant; undefined for other operands, and where they are not in this process's memory. */
function constantBytes(
  { operandValues, pools }: ModelContext,
  { lifetime, location }: Operand,
): Uint8Array | undefined {
  const { poolIndex, offset, length } = location;
  switch (lifetime) {
    case OperandLifeTime.CONSTANT_COPY:
      return operandValues.subarray(offset, offset + length);
    case OperandLifeTime.CONSTANT_REFERENCE: {
      const handle = pools[poolIndex]?.handle;
      if (handle?.kind !== "buffer" || !isBuffer(handle.buffer)) return undefined;
      const start = handle.byteOffset + offset;
      if (!(start >= 0 && start + length <= handle.buffer.byteLength)) return undefined;
      return new Uint8Array(handle.buffer, start, length);
    }
    default:
      return undefined;
  }
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
