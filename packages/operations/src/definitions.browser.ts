/** The definitions of operations in a browser: families of them are files of their own, which are loaded when they are needed. */
import { OperationType } from "@nnhal/types";
import type { Operation } from "./define.ts";
import { type Family, families } from "./families.gen.ts";

const loaded: Operation[] = [];

/** The definitions that are loaded so far. */
export const operations: readonly Operation[] = loaded;

/** What loads a definition and others of its family, by code. */
export const loaders: ReadonlyMap<number, () => Promise<readonly Operation[]>> = new Map(
  families.flatMap((family) => {
    const load = once(family);
    return family.names.map((name) => [OperationType[name], load] as const);
  }),
);

function once({ load }: Family): () => Promise<readonly Operation[]> {
  let loading: Promise<readonly Operation[]> | undefined;
  const start = async () => {
    const family = await load();
    loaded.push(...family);
    return family;
  };
  return () => {
    loading ??= start().catch((error: unknown) => {
      // Such as a network that was down: the next call tries again.
      loading = undefined;
      throw error;
    });
    return loading;
  };
}
