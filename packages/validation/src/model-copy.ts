/**
 * Copies of models that nothing can change: every field of the caller's model is read once, into frozen plain data. A copy keeps the
 * results of its validation. A map by model would keep them, with all that they reference, until a major garbage collection.
 */
import type { ExtensionDefinition, Match } from "@nnhal/operations";
import type { Model, Operation } from "@nnhal/types";
import { isObject } from "./structure.ts";
import { frozenList, takeMemory, takePrefix, takeSubgraph } from "./take-model.ts";

/** A valid model that cannot change. */
export interface SealedModel {
  /** Frozen with all its parts, except for the bytes of constants. Its memories are the caller's objects. */
  readonly model: Model;
  /** The bytes that each pool had when the model was validated, in order: a later mapping must not be shorter. */
  readonly poolSizes: readonly number[];
  /** The form and type row of each operation that has a definition. */
  readonly matches: ReadonlyMap<Operation, Match>;
}

/** The results of a model's validation, by the extensions that it was validated with. */
type Seals = WeakMap<readonly ExtensionDefinition[], SealedModel & { readonly valuesLength: number }>;

/** The results that a copy keeps; undefined for any other value. Only this package can add to them. */
export let sealsOf: (model: Model) => Seals | undefined;

/** A copy of a model. It has not been validated yet. */
export class ModelCopy implements Model {
  declare readonly main: Model["main"];
  declare readonly referenced: Model["referenced"];
  declare readonly operandValues: Model["operandValues"];
  declare readonly pools: Model["pools"];
  declare readonly relaxComputationFloat32toFloat16: boolean;
  declare readonly extensionNameToPrefix: Model["extensionNameToPrefix"];
  readonly #seals: Seals = new WeakMap();

  static {
    sealsOf = (model) => (isObject(model) && #seals in model ? model.#seals : undefined);
  }

  /** Throws Unreadable if the structure of a model is wrong, and whatever the caller's getters throw. */
  constructor(given: Model) {
    this.main = takeSubgraph(given.main);
    this.referenced = frozenList(given.referenced, "referenced", takeSubgraph);
    this.operandValues = given.operandValues;
    this.pools = frozenList(given.pools, "pools", takeMemory);
    this.relaxComputationFloat32toFloat16 = given.relaxComputationFloat32toFloat16;
    this.extensionNameToPrefix = frozenList(given.extensionNameToPrefix, "extensionNameToPrefix", takePrefix);
    Object.freeze(this);
  }
}
