/** Functions of modules that a page loads by need, for programs. */
import type { ExtensionDefinition } from "@nnhal/operations";
import { type Extension, openExtensions as open } from "./extensions.ts";
import { tools } from "./local-session.ts";
import { type RefusedModel, refusalOfModel as refuse } from "./refusal.ts";

/** The definitions of extensions. Rejects with BAD_OPTION for one that cannot be loaded, and for a module that exports none. */
export const openExtensions = (given: readonly Extension[]): Promise<readonly ExtensionDefinition[]> =>
  open(given, tools);

/** The error of preparing or running a model, with the operators of its file; any other error as it is. */
export const refusalOfModel = (error: unknown, model: RefusedModel): Promise<unknown> => refuse(error, model, tools);
