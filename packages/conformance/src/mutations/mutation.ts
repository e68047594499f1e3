/**
 * What a mutation is: a way to break one rule of a valid model, at every place where the model has it.
 */
import { ErrorStatus, type Model } from "@nnhal/types";

/** A model with one thing broken. */
export interface Mutant {
  /** What was done, and where: `main operand 3 has scale 1`. Unique among the mutants of one mutation and model. */
  readonly name: string;
  readonly model: Model;
  /** What a driver has to answer. */
  readonly expected: ErrorStatus;
  /** How to prepare it, where it is that which is wrong and not the model. */
  readonly options?: MutantOptions;
  /** Why the mutant can be a valid model after all: nothing is expected of it then. */
  readonly exempt?: string;
}

/** Options for preparing a model, of which each may hold what its enum does not have. */
export interface MutantOptions {
  readonly preference?: number;
  readonly priority?: number;
}

/** A class of mutants. */
export interface ModelMutation {
  readonly name: string;
  /** The rule that its mutants break. */
  readonly says: string;
  /** The mutants of a valid model, in an order that depends on the model alone. The model itself stays as it is. */
  mutate(model: Model): Iterable<Mutant>;
}

/** A mutant that is wrong, unless there is a reason why it may be right. */
export function invalid(name: string, model: Model, exempt?: string): Mutant {
  return { name, model, expected: ErrorStatus.INVALID_ARGUMENT, ...(exempt !== undefined && { exempt }) };
}
