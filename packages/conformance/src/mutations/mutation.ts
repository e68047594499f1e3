/**
 * A mutation breaks one rule of a valid model, at every place to which the rule applies.
 */
import { ErrorStatus, type Model } from "@nnhal/types";

/** A model that breaks one rule. */
export interface Mutant {
  /** The change and its place: `main operand 3 has scale 1`. Unique among the mutants of one mutation and model. */
  readonly name: string;
  readonly model: Model;
  /** The status that a driver must return. */
  readonly expected: ErrorStatus;
  /** Wrong options for the preparation, if the model itself is right. */
  readonly options?: MutantOptions;
  /** Why the mutant can be a valid model; then no status is expected. */
  readonly exempt?: string;
}

/** Options of a preparation; a value need not be a member of its enum. */
export interface MutantOptions {
  readonly preference?: number | undefined;
  readonly priority?: number | undefined;
}

/** A class of mutants. */
export interface ModelMutation {
  readonly name: string;
  /** The rule that the mutants break. */
  readonly says: string;
  /** The mutants of a valid model, in an order that depends on the model alone. Does not change the model. */
  mutate(model: Model): Iterable<Mutant>;
}

/** A mutant that must be refused, unless it is exempt for a reason. */
export function invalid(name: string, model: Model, exempt?: string): Mutant {
  return { name, model, expected: ErrorStatus.INVALID_ARGUMENT, ...(exempt !== undefined && { exempt }) };
}
