/** Which rows of the matrix run. */
import { emulated, hostName, vnniName } from "./processors.ts";

/** All rows, in the order of the table. */
export const rowNames: readonly string[] = [...emulated.map(({ name }) => name), hostName, vnniName];

/** The rows that `--only` names, in the order of the table; all without it. */
export function chosenNames(
  only: string | undefined,
): { readonly names: readonly string[] } | { readonly unknown: string } {
  if (only === undefined) return { names: rowNames };
  const asked = only.split(",").map((name) => name.trim());
  const unknown = asked.filter((name) => !rowNames.includes(name));
  if (unknown.length > 0) return { unknown: unknown.map((name) => JSON.stringify(name)).join(", ") };
  return { names: rowNames.filter((name) => asked.includes(name)) };
}
