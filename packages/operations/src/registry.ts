/**
 * From an operation's code to its definition. In Node.js all definitions are there. A bundle for a browser loads them by need: see
 * definitions.browser.ts.
 */
import { OperationType } from "@nnhal/types";
import type { Operation } from "./define.ts";
import * as definitions from "./definitions.ts";

/** Definitions that are there, and what loads others and those of their family, by code. */
export interface Definitions {
  readonly operations: readonly Operation[];
  readonly loaders: ReadonlyMap<number, () => Promise<readonly Operation[]>>;
}

/** The functions of a registry. */
export interface Registry {
  /**
   * The definition of one of the HAL's own operations; undefined for any other code, an extension's or OEM_OPERATION. In a browser:
   * throws a NotLoadedError if it is not loaded.
   */
  operationByCode(this: void, code: number): Operation | undefined;
  /** In a browser: throws one NotLoadedError for those of some operations that are not loaded. */
  ensureLoaded(this: void, codes: Iterable<number>): void;
  /** Loads definitions of operations, which a bundle for a browser loads by need; does nothing in Node.js. Default: all operations. */
  loadOperations(this: void, codes?: Iterable<number>): Promise<void>;
}

/** A registry of definitions. */
export function createRegistry({ operations, loaders }: Definitions): Registry {
  let byCode: Map<number, Operation> | undefined;
  const findKnown = () => {
    byCode ??= new Map(operations.map((operation) => [operation.code, operation]));
    return byCode;
  };
  /** The codes of operations that can be loaded, but are not. */
  const missingOf = (codes: Iterable<number>) =>
    [...new Set(codes)].filter((code) => loaders.has(code) && !findKnown().has(code));
  const ensureLoaded = (codes: Iterable<number>) => {
    const missing = missingOf(codes);
    if (missing.length === 0) return;
    const names = Object.entries(OperationType).flatMap(([name, code]) => (missing.includes(code) ? [name] : []));
    const what = names.length === 1 ? `the definition of ${names[0]} is` : `the definitions of ${names.join(", ")} are`;
    throw new NotLoadedError(
      `${what} not loaded: in a browser, await loadOperations() or use whenLoaded(), both of @nnhal/operations`,
      () => loadOperations(missing),
    );
  };
  const loadOperations = async (codes: Iterable<number> = loaders.keys()) => {
    const loads = new Set(missingOf(codes).flatMap((code) => loaders.get(code) ?? []));
    const families = await Promise.all([...loads].map((load) => load()));
    for (const operation of families.flat()) findKnown().set(operation.code, operation);
  };
  return {
    operationByCode(code) {
      const operation = findKnown().get(code);
      if (operation === undefined) ensureLoaded([code]);
      return operation;
    },
    ensureLoaded,
    loadOperations,
  };
}

const own = createRegistry(definitions);

/**
 * The definition of one of the HAL's own operations; undefined for any other code, an extension's or OEM_OPERATION. In a browser:
 * throws a NotLoadedError if it is not loaded.
 */
export const operationByCode: (this: void, code: number) => Operation | undefined = own.operationByCode;

/** In a browser: throws one NotLoadedError for those of some operations that are not loaded. */
export const ensureLoaded: (this: void, codes: Iterable<number>) => void = own.ensureLoaded;

/** Loads definitions of operations, which a bundle for a browser loads by need; does nothing in Node.js. Default: all operations. */
export const loadOperations: (this: void, codes?: Iterable<number>) => Promise<void> = own.loadOperations;

/** Something is needed that a bundle for a browser has not loaded yet. */
export class NotLoadedError extends Error {
  override readonly name = "NotLoadedError";
  /** Loads it. */
  readonly load: () => Promise<void>;

  constructor(message: string, load: () => Promise<void>) {
    super(message);
    this.load = load;
  }
}

/**
 * A function that returns what `load` resolves to, once that is loaded; before, it throws a NotLoadedError. `what`: begins its message,
 * such as "the reader of strings".
 */
export function byNeed<Loaded extends object>(what: string, load: () => Promise<Loaded>): () => Loaded {
  let loaded: Loaded | undefined;
  return () => {
    if (loaded !== undefined) return loaded;
    const remedy = "in a browser, use whenLoaded() of @nnhal/operations";
    throw new NotLoadedError(`${what} is not loaded: ${remedy}`, async () => {
      loaded = await load();
    });
  };
}

/**
 * The result of `work`, such as the import of a model. If it throws a NotLoadedError, what it needs is loaded, and `work` is called
 * again.
 */
export async function whenLoaded<Result>(work: () => Result): Promise<Result> {
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof NotLoadedError)) throw error;
      await error.load();
    }
  }
}
