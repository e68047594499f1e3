/**
 * A subgraph under validation: the facts of its operands that the checks of its operations need.
 */
import {
  type AnyArgs,
  type AnyOperandType,
  copyTensorData,
  elementAt,
  elementCount,
  elementFactsOf,
  type MaybeType,
  type OperandInfo,
  type TensorData,
  type TensorInfo,
} from "@nnhal/operations";
import { type Operand, OperandLifeTime, type Subgraph, type SymmPerChannelQuantParams } from "@nnhal/types";
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
  /** Results of shape inference so far that go beyond an operand's declaration, by operand. */
  readonly inferred: (TensorInfo | undefined)[];
  /** Large constants as operations' own rules see them: each is decoded at most once. */
  readonly largeConstants: Map<number, OperandInfo>;
}

/** The operands of an operation as its rules see them. */
export interface BoundOperands {
  /** Undefined: omitted. */
  readonly inputs: readonly (OperandInfo | undefined)[];
  readonly outputs: readonly OperandInfo[];
  /** The inputs by the names of their parameters. */
  readonly args: AnyArgs;
}

/** Constants above this size are kept once decoded; smaller ones cost less than a table of them. */
const largeConstant = 64;

/** An operand as the rules of operations see it; undefined for an extension's type. The operand is right. */
export function operandInfo(context: ModelContext, view: SubgraphView, index: number): OperandInfo | undefined {
  const type = view.types[index];
  if (type === undefined) return undefined;
  const operand = elementAt(view.subgraph.operands, index);
  if (operand.location.length <= largeConstant) return new OperandFacts(type, operand, context);
  let info = view.largeConstants.get(index);
  if (info === undefined) {
    info = new OperandFacts(type, operand, context);
    view.largeConstants.set(index, info);
  }
  return info;
}

/**
 * The facts of an operand. A class with a getter: elements are decoded on the first access, and most constants of a model are
 * never read.
 */
class OperandFacts implements OperandInfo {
  readonly type: AnyOperandType;
  readonly dimensions: readonly number[];
  readonly scale: number;
  readonly zeroPoint: number;
  readonly channelQuant?: SymmPerChannelQuantParams;
  readonly #operand: Operand;
  readonly #context: ModelContext;
  #data: TensorData | undefined;
  #isDecoded = false;

  constructor(type: AnyOperandType, operand: Operand, context: ModelContext) {
    this.type = type;
    this.dimensions = operand.dimensions;
    this.scale = operand.scale;
    this.zeroPoint = operand.zeroPoint;
    if (operand.extraParams.kind === "channelQuant") this.channelQuant = operand.extraParams.channelQuant;
    this.#operand = operand;
    this.#context = context;
  }

  get data(): TensorData | undefined {
    if (!this.#isDecoded) {
      this.#isDecoded = true;
      const constant = constantOf(this.#context, this.#operand);
      if (constant !== undefined) this.#data = decode(this.type, this.dimensions, constant);
    }
    return this.#data;
  }
}

/** The place of a constant's bytes. */
interface Constant {
  readonly bytes: Uint8Array;
  readonly offset: number;
}

/** The place of a constant; undefined for other operands, and if it is not in this process's memory. */
function constantOf({ operandValues, pools }: ModelContext, { lifetime, location }: Operand): Constant | undefined {
  const { poolIndex, offset, length } = location;
  if (lifetime === OperandLifeTime.CONSTANT_COPY) return { bytes: operandValues, offset };
  if (lifetime !== OperandLifeTime.CONSTANT_REFERENCE) return undefined;
  const handle = pools[poolIndex]?.handle;
  if (handle?.kind !== "buffer" || !isBuffer(handle.buffer)) return undefined;
  const start = handle.byteOffset + offset;
  if (!(start >= 0 && start + length <= handle.buffer.byteLength)) return undefined;
  return { bytes: new Uint8Array(handle.buffer, start, length), offset: 0 };
}

/** The elements of a constant; undefined if there are fewer bytes than elements need, or the type has no elements. */
function decode(type: AnyOperandType, dimensions: readonly number[], constant: Constant): TensorData | undefined {
  const { bytes, offset } = constant;
  const size = sizeOf(elementFactsOf(type), dimensions);
  if (size === 0 || offset + size > bytes.length) return undefined;
  return copyTensorData(type, bytes, elementCount(dimensions), offset);
}
