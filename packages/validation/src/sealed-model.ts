/**
 * Sealed models: immutable copies, with the results of their validation. A sealed model that is passed on within a process, as
 * a runtime passes it to a device, is not copied and validated again. `sealModel` alone makes them, and it always validates, so that
 * nothing can claim to have been checked.
 */
import type { ExtensionDefinition, Match } from "@nnhal/operations";
import type { Memory, Model, Operation } from "@nnhal/types";
import { collectIssues, type Issue, show } from "./issues.ts";
import { checkModel } from "./model.ts";
import { ModelCopy, type SealedModel, sealsOf } from "./model-copy.ts";
import { TooLong } from "./take.ts";

/** Options of sealing a model. */
export interface SealOptions {
  /** See `ModelValidationOptions.extensions`. A model is validated once with the same list. Default: none. */
  readonly extensions?: readonly ExtensionDefinition[] | undefined;
}

const none: readonly ExtensionDefinition[] = [];

/**
 * Validates a model by the rules of the newest version of the HAL in mode `runtime` and returns a sealed copy, or at least one rule that it
 * breaks. A model that is sealed already is returned as it is; it is validated again only if it uses other extensions of the list, or if its
 * `operandValues` have been transferred to another thread. Never throws, whatever the model is.
 */
export function sealModel(
  given: Model,
  { extensions: known = none }: SealOptions = {},
): SealedModel | { readonly issues: readonly Issue[] } {
  const seals = sealsOf(given);
  // A sealed model is readable. A list without any extension that it uses is equivalent to no list.
  const extensions = seals === undefined || usesAny(given, known) ? known : none;
  const found = seals?.get(extensions);
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
  const seal = { model, poolSizes, matches, valuesLength: model.operandValues.length };
  sealsOf(model)?.set(usesAny(model, extensions) ? extensions : none, seal);
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
