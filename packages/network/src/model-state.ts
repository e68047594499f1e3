/** The state of a model: the values that it carries from one run to the next. */
import { elementAt } from "@nnhal/operations";
import { check } from "./error.ts";
import { encodePlain } from "./inputs.ts";
import { tensorsOf } from "./results.ts";
import type { Session } from "./session.ts";
import { indexOfName, type Tensor, type TensorInfo } from "./tensor-info.ts";
import { kindOf, type PlainValue } from "./values.ts";

/** Values that a model carries from one run to the next. The runs of a model with state follow one another. */
export interface ModelState {
  readonly infos: readonly TensorInfo[];
  /** Copies of all values. */
  read(): Promise<Readonly<Record<string, Tensor>>>;
  /** Sets some values by name. */
  write(values: Readonly<Record<string, PlainValue>>): Promise<void>;
  /** Sets all values, or those of some names, to those of the start. */
  reset(names?: readonly string[]): Promise<void>;
}

/** Calls a method of the model, which its `close` waits for. */
type Call = <Result>(what: string, options: undefined, work: () => Promise<Result>) => Promise<Result>;

/** The state of a session. */
export function createState(session: Session, states: readonly TensorInfo[], call: Call): ModelState {
  const readState = async () => {
    const all = await session.readState();
    const tensors = await tensorsOf(states, all, false);
    // Real numbers: `raw` is false.
    return Object.fromEntries(tensors.map((tensor) => [tensor.name, tensor])) as Record<string, Tensor>;
  };
  const writeState = async (values: Readonly<Record<string, PlainValue>>) => {
    const isObject = typeof values === "object" && values !== null && !Array.isArray(values);
    check(isObject, "WRONG_TYPE", () => `state.write takes values by name; it was given ${kindOf(values)}`);
    const entries = Object.entries(values).map(async ([key, value]) => {
      const place = indexOfName(states, key, "state");
      return [place, await encodePlain(value, elementAt(states, place), "the state")] as const;
    });
    await session.writeState(new Map(await Promise.all(entries)));
  };
  const resetState = async (names: readonly string[]) => {
    check(Array.isArray(names), "WRONG_TYPE", () => `state.reset takes a list of names; it was given ${kindOf(names)}`);
    await session.writeState(new Map(names.map((key) => [indexOfName(states, key, "state"), undefined])));
  };
  return {
    infos: states,
    read: () => call("state.read", undefined, readState),
    write: (values) => call("state.write", undefined, () => writeState(values)),
    reset: (names = states.map((info) => info.name)) => call("state.reset", undefined, () => resetState(names)),
  };
}
