/**
 * The constants of a model for all its compilations: those above 128 bytes lie in a pool that all devices share, so that they
 * are copied once, however often and in however many parts the model is prepared.
 */
import { allocateMemory, mapMemory } from "@nnhal/driver-core/memory";
import { type Memory, type Model, type Operand, OperandLifeTime, type Subgraph } from "@nnhal/types";

/** The longest value that stays in the model (NNAPI: ..._MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES). */
const LONGEST_COPIED = 128;
/** Every shared value starts at a multiple of this, so that it can be viewed as any element type. */
const ALIGNMENT = 64;

/** By model, the model with shared constants; models are immutable. */
const shared = new WeakMap<Model, Model>();

/**
 * The model with its large CONSTANT_COPY values in a pool of their own, which the first compilation makes; the model itself if it
 * has none. Values in pools are not moved. Indexes do not change.
 */
export function withSharedConstants(model: Model): Model {
  let result = shared.get(model);
  if (result === undefined) {
    result = share(model);
    shared.set(model, result);
    shared.set(result, result);
  }
  return result;
}

function share(model: Model): Model {
  const subgraphs = [model.main, ...model.referenced];
  const isShared = ({ lifetime, location: { length } }: Operand) =>
    lifetime === OperandLifeTime.CONSTANT_COPY && length > LONGEST_COPIED;
  const constants = subgraphs.flatMap(({ operands }) =>
    operands.filter(({ lifetime }) => lifetime === OperandLifeTime.CONSTANT_COPY),
  );
  const large = new Region(model.operandValues, ALIGNMENT);
  for (const operand of constants) if (isShared(operand)) large.add(operand);
  if (large.size === 0) return model;
  // The remaining values are packed.
  const small = new Region(model.operandValues, 4);
  for (const operand of constants) if (!isShared(operand)) small.add(operand);
  const operandValues = new Uint8Array(small.size);
  small.copyTo(operandValues);
  const memory = sharedMemory(large);
  const poolIndex = model.pools.length;
  const moved = (operand: Operand): Operand => {
    if (operand.lifetime !== OperandLifeTime.CONSTANT_COPY) return operand;
    const { length } = operand.location;
    if (!isShared(operand)) return { ...operand, location: { poolIndex: 0, offset: small.offsetOf(operand), length } };
    const location = { poolIndex, offset: large.offsetOf(operand), length };
    return { ...operand, lifetime: OperandLifeTime.CONSTANT_REFERENCE, location };
  };
  const move = (subgraph: Subgraph): Subgraph => ({ ...subgraph, operands: subgraph.operands.map(moved) });
  return {
    ...model,
    main: move(model.main),
    referenced: model.referenced.map(move),
    operandValues,
    pools: [...model.pools, memory],
  };
}

function sharedMemory(region: Region): Memory {
  const memory = allocateMemory(region.size);
  const bytes = mapMemory(memory);
  // Memory that was just allocated is mapped already.
  if ("unmappable" in bytes) throw new Error(bytes.unmappable);
  region.copyTo(bytes);
  return memory;
}

/** A region of values, each place once. A class because it collects them. */
class Region {
  size = 0;
  readonly #values: Uint8Array;
  readonly #alignment: number;
  /** By the place of a value, its new offset. */
  readonly #offsets = new Map<string, number>();
  readonly #parts: { readonly offset: number; readonly bytes: Uint8Array }[] = [];

  constructor(values: Uint8Array, alignment: number) {
    this.#values = values;
    this.#alignment = alignment;
  }

  add({ location: { offset, length } }: Operand): void {
    const key = `${offset} ${length}`;
    if (this.#offsets.has(key)) return;
    this.#offsets.set(key, this.size);
    this.#parts.push({ offset: this.size, bytes: this.#values.subarray(offset, offset + length) });
    this.size += Math.ceil(length / this.#alignment) * this.#alignment;
  }

  offsetOf({ location: { offset, length } }: Operand): number {
    return this.#offsets.get(`${offset} ${length}`) ?? 0;
  }

  copyTo(target: Uint8Array): void {
    for (const { offset, bytes } of this.#parts) target.set(bytes, offset);
  }
}
