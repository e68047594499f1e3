/**
 * Sealed models: immutable copies, with the results of their validation. A sealed model that is passed on within a process, as
 * a runtime passes it to a device, is not copied and validated again. `sealModel` alone makes them, and it always validates, so that
 * nothing can claim to have been checked.
 */
import type { ExtensionDefinition, Match } from "@nnhal/operations";
import type { Memory, Model, Operation } from "@nnhal/types";
import { collectIssues, type Issue, show } from "./issues.ts";
import { checkModel } from "./model.ts";
import { TooLong } from "./take.ts";
import { takeModel } from "./take-model.ts";

/** A valid model that cannot change. */
export interface SealedModel {
  /** Frozen with all its parts, except for the bytes of constants. Its memories are the caller's objects. */
  readonly model: Model;
  /** The bytes that each pool had when the model was validated, in order: a later mapping must not be shorter. */
  readonly poolSizes: readonly number[];
  /** The form and type row of each operation that has a definition. */
  readonly matches: ReadonlyMap<Operation, Match>;
}

/** How to seal a model. */
export interface SealOptions {
  /** See `ModelValidationOptions.extensions`. A model is validated once with the same list. Default: none. */
  readonly extensions?: readonly ExtensionDefinition[] | undefined;
}

interface Seal extends SealedModel {
  /** The extensions that the model was validated with. */
  readonly extensions: readonly ExtensionDefinition[];
  readonly valuesLength: number;
}

/** The seals of a model: most models have one. */
interface Seals {
  first: Seal | undefined;
  others: WeakMap<readonly ExtensionDefinition[], Seal> | undefined;
}

let sealsOf: (model: Model) => Seals | undefined;

/**
 * The copies that `sealModel` makes, with their seals. A map by model would keep what it knows of short-lived models until a major
 * garbage collection. A new copy has no seal.
 */
class ModelCopy implements Model {
  readonly main: Model["main"];
  readonly referenced: Model["referenced"];
  readonly operandValues: Model["operandValues"];
  readonly pools: Model["pools"];
  readonly relaxComputationFloat32toFloat16: boolean;
  readonly extensionNameToPrefix: Model["extensionNameToPrefix"];
  readonly #seals: Seals = { first: undefined, others: undefined };

  static {
    sealsOf = (model) => (typeof model === "object" && model !== null && #seals in model ? model.#seals : undefined);
  }

  /** Throws what `takeModel` throws. */
  constructor(given: Model) {
    const taken = takeModel(given);
    this.main = taken.main;
    this.referenced = taken.referenced;
    this.operandValues = taken.operandValues;
    this.pools = taken.pools;
    this.relaxComputationFloat32toFloat16 = taken.relaxComputationFloat32toFloat16;
    this.extensionNameToPrefix = taken.extensionNameToPrefix;
    Object.freeze(this);
  }
}

function sealWith(extensions: readonly ExtensionDefinition[], { first, others }: Seals): Seal | undefined {
  return first?.extensions === extensions ? first : others?.get(extensions);
}

function keep(seal: Seal): void {
  const seals = sealsOf(seal.model);
  if (seals === undefined) return;
  if (seals.first === undefined || seals.first.extensions === seal.extensions) {
    seals.first = seal;
    return;
  }
  seals.others ??= new WeakMap();
  seals.others.set(seal.extensions, seal);
}

const none: readonly ExtensionDefinition[] = [];

/**
 * Validates a model by the rules of HAL 1.3 in mode `runtime` and returns a sealed copy, or the rules that it breaks, of which there
 * is at least one. A model that is sealed already is returned as it is; it is validated again only if it uses other extensions of the list, or if its
 * `operandValues` have been transferred to another thread. Never throws, whatever the model is.
 */
export function sealModel(
  given: Model,
  { extensions: known = none }: SealOptions = {},
): SealedModel | { readonly issues: readonly Issue[] } {
  const seals = sealsOf(given);
  // A model that is sealed is readable: only a list of which it uses an extension is other than none.
  const extensions = seals === undefined || usesAny(given, known) ? known : none;
  const found = seals && sealWith(extensions, seals);
  if (found !== undefined && found.valuesLength === given.operandValues.length) return found;
  let model: Model;
  try {
    model = seals === undefined ? new ModelCopy(given) : given;
  } catch (error) {
    return { issues: unreadableIssues(given, extensions, error) };
  }
  const matches = new Map<Operation, Match>();
  let poolSizes: readonly number[] = [];
  const issues = collectIssues("model", undefined, (list) => {
    // Memories are the caller's: each is read once, so that what is validated is what the seal says.
    const pools = model.pools.map(readMemory);
    poolSizes = pools.map(({ size }) => size);
    checkModel({ ...model, pools }, { mode: "runtime", extensions }, list, undefined, matches);
  });
  if (issues.length > 0) return { issues };
  const seal: Seal = {
    ...{ model, poolSizes, matches, valuesLength: model.operandValues.length },
    extensions: usesAny(model, extensions) ? extensions : none,
  };
  keep(seal);
  return seal;
}

function usesAny({ extensionNameToPrefix }: Model, extensions: readonly ExtensionDefinition[]): boolean {
  return extensions.some((extension) => extensionNameToPrefix.some(({ name }) => name === extension.name));
}

function readMemory({ name, size, handle }: Memory): Memory {
  return { name, size, handle: handle === null ? handle : { ...handle } };
}

/** Validation describes best why a model cannot be read. A model that can be read the second time changes while it is read. */
function unreadableIssues(model: Model, extensions: readonly ExtensionDefinition[], error: unknown): readonly Issue[] {
  const issues =
    error instanceof TooLong
      ? []
      : collectIssues("model", undefined, (list) => {
          checkModel(model, { mode: "runtime", extensions }, list, undefined);
        });
  return issues.length > 0
    ? issues
    : [{ code: "structure", path: "model", message: `reading it failed: ${show(error)}` }];
}
