/** The definitions of operations in a browser: families of them are files of their own, which are loaded when they are needed. */
import { OperationType } from "@nnhal/types";
import type { Operation } from "./define.ts";
import { type Family, families } from "./families.gen.ts";

/** Definitions of which none is loaded yet. */
export function loadedByNeed(given: readonly Family[]) {
  const loaded: Operation[] = [];
  const once = ({ load }: Family) => {
    let loading: Promise<readonly Operation[]> | undefined;
    const start = async () => {
      try {
        const family = await load();
        loaded.push(...family);
        return family;
      } catch (error) {
        // Such as a network that was down: the next call tries again.
        loading = undefined;
        throw error;
      }
    };
    return () => {
      loading ??= start();
      return loading;
    };
  };
  const loaders: ReadonlyMap<number, () => Promise<readonly Operation[]>> = new Map(
    given.flatMap((family) => {
      const load = once(family);
      return family.names.map((name) => [OperationType[name], load] as const);
    }),
  );
  const operations: readonly Operation[] = loaded;
  return { operations, loaders };
}

/** `operations`: those that are loaded so far. `loaders`: what loads a definition and others of its family, by code. */
export const { operations, loaders } = loadedByNeed(families);
