/**
 * The values of a model's states between executions; several signatures of a file may share them.
 */
import { byteLength, createData, elementAt, elementCount, encodeTensorData } from "@nnhal/operations";
import { ensure, listText, quote } from "./error.ts";
import type { ImportedModel, TensorDescription } from "./import/imported-model.ts";

/** The value of a state. */
export interface StateValue {
  /** The elements as an execution has them. */
  readonly bytes: Uint8Array;
  /** Extents as the HAL sees them; those that the model leaves open are known here. */
  readonly dimensions: readonly number[];
}

/** A value for an input of a model. */
export interface StateInput extends StateValue {
  /** The place of the input. */
  readonly index: number;
}

/** The states of one file's models. A name that is not a state's, and a value that does not fit, throw a TfliteError. */
export interface States {
  readonly names: readonly string[];
  /** A copy of the value that the next execution gets. */
  get(name: string): StateValue;
  /** Sets the value that the next execution gets; the bytes are copied. */
  set(name: string, value: StateValue): void;
  /** Sets states to their first values. Default: all. */
  reset(names?: readonly string[]): void;
  /** The values of a model's states, one for each, to set as inputs of an execution. */
  inputs(model: ImportedModel): readonly StateInput[];
  /** Takes the new values after an execution of a model. `outputOf`: the output at a place; its bytes are copied. */
  update(model: ImportedModel, outputOf: (index: number) => StateValue): void;
}

/** A state, and what it is set to. */
interface Slot {
  readonly info: TensorDescription;
  readonly first: StateValue | undefined;
  value: StateValue;
}

/** Bytes of a row of strings that are empty. */
const emptyRow = 4;

/** The first value, which is 0 by default. Extents that the model leaves open are 1 then, but rows of strings have room for empty ones. */
function firstValue({ type, tensorType, shape, zeroPoint }: TensorDescription, first?: StateValue): StateValue {
  if (first !== undefined) return copyOf(first);
  const extents = shape.map((extent) => (extent === 0 ? 1 : extent));
  if (tensorType === "STRING") {
    const dimensions = extents.with(-1, emptyRow);
    return { bytes: new Uint8Array(elementCount(dimensions)), dimensions };
  }
  const count = elementCount(extents);
  const bytes = new Uint8Array(byteLength(type, count));
  if (zeroPoint !== 0) encodeTensorData(type, createData(type, count).fill(zeroPoint), bytes);
  return { bytes, dimensions: extents };
}

function copyOf({ bytes, dimensions }: StateValue): StateValue {
  return { bytes: new Uint8Array(bytes), dimensions: [...dimensions] };
}

/** The states of some models, which are imports of one file, with their first values. A state that several of them have is shared. */
export function createStates(...models: readonly ImportedModel[]): States {
  const slots = new Map<string, Slot>();
  for (const { states, inputs } of models) {
    for (const { name, input, initial, initialShape } of states) {
      const known = slots.get(name);
      const info = known?.info ?? elementAt(inputs, input);
      const given = initial && { bytes: initial, dimensions: initialShape ?? info.shape };
      const first = known?.first ?? given;
      slots.set(name, { info, first, value: firstValue(info, first) });
    }
  }

  function slotOf(name: string): Slot {
    const slot = slots.get(name);
    const names = () => [...slots.keys()].slice(0, MOST_NAMED).map(quote).join(", ");
    ensure(slot !== undefined, "states", () => `there is no state ${quote(name)}; there are ${names() || "none"}`);
    return slot;
  }

  function assign(name: string, { bytes, dimensions }: StateValue): void {
    const slot = slotOf(name);
    const { shape, type } = slot.info;
    const fits = dimensions.length === shape.length && shape.every((one, i) => one === 0 || one === dimensions[i]);
    const path = `states[${quote(name)}]`;
    ensure(fits, path, () => `${listText(dimensions)} does not fit the shape ${listText(shape)}`);
    const needed = byteLength(type, elementCount(dimensions));
    ensure(
      bytes.length === needed,
      path,
      () => `${listText(dimensions)} takes ${needed} bytes, there are ${bytes.length}`,
    );
    slot.value = copyOf({ bytes, dimensions });
  }

  return {
    names: [...slots.keys()],
    get: (name) => copyOf(slotOf(name).value),
    set: assign,
    reset(names = [...slots.keys()]) {
      for (const slot of names.map(slotOf)) slot.value = firstValue(slot.info, slot.first);
    },
    inputs: ({ states }) => states.map(({ name, input }) => ({ index: input, ...slotOf(name).value })),
    update({ states }, outputOf) {
      for (const { name, output } of states) if (output !== undefined) assign(name, outputOf(output));
    },
  };
}

/** Most names that a message lists. */
const MOST_NAMED = 8;
