/** The definitions of operations in a browser: each family is a separate file, loaded on first use. */
import { OperationType } from "@nnhal/types";
import type { Operation } from "./define.ts";
import { type Family, families } from "./families.gen.ts";

/** Makes a registry in which each family of definitions is loaded on first use. */
export function loadByNeed(given: readonly Family[]) {
  const loaded: Operation[] = [];
  const once = ({ load }: Family) => {
    let loading: Promise<readonly Operation[]> | undefined;
    const start = async () => {
      try {
        const family = await load();
        loaded.push(...family);
        return family;
      } catch (error) {
        // The failure may be temporary, such as a network that was down: the next call tries again.
        loading = undefined;
        throw error;
      }
    };
    return () => {
      loading ??= start();
      return loading;
    };
  };
  const named = new Set<string>(given.flatMap(({ names = [] }) => names));
  const others = Object.entries(OperationType).filter(([name]) => name !== "OEM_OPERATION" && !named.has(name));
  const loaders: ReadonlyMap<number, () => Promise<readonly Operation[]>> = new Map(
    given.flatMap((family) => {
      const load = once(family);
      const codes = family.names?.map((name) => OperationType[name]) ?? others.map(([, code]) => code);
      return codes.map((code) => [code, load] as const);
    }),
  );
  const operations: readonly Operation[] = loaded;
  return { operations, loaders };
}

/** `operations`: the definitions loaded so far. `loaders`: by operation code, loads the definition and its family. */
export const { operations, loaders } = loadByNeed(families);
