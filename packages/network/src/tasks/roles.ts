/**
 * Which output of a model plays which part in a task: as the caller says, else by the names that makers give them, else by shape.
 */
import { check, NetworkError } from "../error.ts";
import type { Model } from "../model.ts";
import { findByName, infoText, type TensorInfo } from "../tensor-info.ts";
import { kindOf } from "../values.ts";

/** Role of an output, and how to find the output that has it. */
export interface Role {
  /** Names in the model or in its metadata, in lower case, that mean it. */
  readonly names: RegExp;
  /** True if an output can have this role by its shape and type. */
  fits(info: TensorInfo): boolean;
}

/** Throws WRONG_TYPE for a model that is not one of `load`, such as a path or the promise of a model. */
export function checkModel(task: string, model: unknown): void {
  const isModel = typeof model === "object" && model !== null && "inputs" in model && "run" in model;
  check(
    isModel,
    "WRONG_TYPE",
    () => `${task}: expected a model, as \`await load(…)\` returns it, got ${kindOf(model)}`,
  );
}

/** The output of each role, by place. Throws WRONG_TASK if one cannot be told. */
export function outputsByRole<Name extends string>(
  task: string,
  { outputs }: Pick<Model, "outputs">,
  roles: Readonly<Record<Name, Role>>,
  given: Partial<Readonly<Record<Name, string>>> = {},
): Readonly<Record<Name, TensorInfo>> {
  const found: Partial<Record<Name, TensorInfo>> = {};
  // The keys of an object are all there are.
  const names = Object.keys(roles) as Name[];
  const taken = new Set<TensorInfo>();
  const take = (name: Name, info: TensorInfo | undefined) => {
    if (info === undefined || found[name] !== undefined) return;
    found[name] = info;
    taken.add(info);
  };
  for (const name of names) {
    const wanted = given[name];
    if (wanted === undefined) continue;
    const info = findByName(outputs, wanted);
    if (info === undefined) {
      const list = outputs.map(infoText).join(", ");
      throw new NetworkError("WRONG_NAME", `${task}: there is no output "${wanted}"; there are: ${list}`);
    }
    take(name, info);
  }
  for (const name of names) {
    const { names: pattern, fits } = roles[name];
    const named = outputs.filter(
      (info) =>
        !taken.has(info) &&
        fits(info) &&
        [info.name, ...info.otherNames].some((each) => pattern.test(each.toLowerCase())),
    );
    if (named.length === 1) take(name, named[0]);
  }
  for (const name of names) {
    take(
      name,
      outputs.find((info) => !taken.has(info) && roles[name].fits(info)),
    );
  }
  const missing = names.filter((name) => found[name] === undefined);
  if (missing.length > 0) {
    const list = outputs.map(infoText).join(", ");
    throw new NetworkError(
      "WRONG_TASK",
      `${task}: no output of the model can be its ${missing.join(" or ")}; the outputs are ${list}; name them with \`outputs\``,
    );
  }
  // None is missing.
  return found as Record<Name, TensorInfo>;
}

/** The extents that are not 1. */
export function extentsOf({ shape }: Pick<TensorInfo, "shape">): readonly number[] {
  return shape.filter((extent) => extent !== 1);
}

/** The only input of a task that takes one picture or sound. Throws WRONG_TASK. */
export function onlyInput(task: string, { inputs }: Pick<Model, "inputs">) {
  const [input] = inputs;
  if (input !== undefined && inputs.length === 1) return input;
  throw new NetworkError("WRONG_TASK", `${task}: the model has ${inputs.length} inputs, and not one alone`);
}
