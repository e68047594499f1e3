/**
 * Names of options: an option that a function does not know is a mistake, and must not be ignored.
 */

/** A record with every option of a function. The compiler refuses one that lacks an option, or has one too many. */
export type OptionNames<Options extends object> = { readonly [Name in keyof Options]-?: true };

/**
 * Describes the first option that a function does not know: `unknown option "device": did you mean "devices"?`; undefined if it knows all
 * of them. `options` can be any object.
 */
export function unknownOption(options: object, known: Readonly<Record<string, true>>): string | undefined {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return undefined;
  const shown = unknown.length > MOST_LETTERS ? `${unknown.slice(0, MOST_LETTERS)}…` : unknown;
  const names = Object.keys(known);
  const near = unknown.length > MOST_LETTERS ? undefined : nearestName(unknown, names);
  if (near !== undefined) return `unknown option "${shown}": did you mean "${near}"?`;
  return `unknown option "${shown}"; ${names.length === 0 ? "there are none" : `there are: ${names.join(", ")}`}`;
}

/** Throws a RangeError for an option that a function does not know. `what`: the function. */
export function expectKnownOptions<Options extends object>(
  what: string,
  options: Options,
  known: OptionNames<Options>,
): void {
  // The names of a mapped type are strings.
  const problem = unknownOption(options, known as Readonly<Record<string, true>>);
  if (problem !== undefined) throw new RangeError(`${what}: ${problem}`);
}

const MOST_LETTERS = 40;

/** The name that differs in the fewest letters; undefined if none resembles the given one. */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const changes = changesBetween(given.toLowerCase(), name.toLowerCase());
    if (changes >= least) continue;
    least = changes;
    nearest = name;
  }
  return least <= Math.max(2, given.length / 3) ? nearest : undefined;
}

/** The number of letters to add, drop or replace (Levenshtein's distance). */
function changesBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 1; at <= one.length; at++) {
    const next = [at];
    for (let to = 1; to <= other.length; to++) {
      const replaced = (row[to - 1] ?? 0) + (one[at - 1] === other[to - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
