/**
 * The tags of verbose logging and the property that selects them (Android: debug.nn.vlog).
 */

/** The bit of each tag in a mask (Utils.h, VLogFlags). */
export const VLogFlag = {
  MODEL: 0,
  COMPILATION: 1,
  EXECUTION: 2,
  CPUEXE: 3,
  MANAGER: 4,
  DRIVER: 5,
  MEMORY: 6,
} as const;

/** The subject of a verbose message. */
export type VLogTag = keyof typeof VLogFlag;

/** The property that selects tags. */
export const VLOG_PROPERTY = "debug.nn.vlog";

/** The mask in which every tag is on. */
export const ALL_VLOG_TAGS = ~0;

const bits: ReadonlyMap<string, number> = new Map([
  ...Object.entries(VLogFlag).map(([tag, bit]) => [tag.toLowerCase(), 1 << bit] as const),
  ["1", ALL_VLOG_TAGS],
  ["all", ALL_VLOG_TAGS],
]);

/** The names of the tags, in the order of their bits. */
export const vlogTagNames: readonly string[] = Object.keys(VLogFlag).map((tag) => tag.toLowerCase());

/**
 * The mask of a value of the property: no tag if it is empty, every tag if it contains `1` or `all`, else the tags that
 * it lists, separated by spaces, commas or colons. Names are lower case. Unknown tags are reported and ignored; text
 * after a `1` or `all` is ignored.
 */
export function parseVLogMask(setting: string, onUnknown: (token: string) => void = () => {}): number {
  let mask = 0;
  for (const token of setting.split(/[ ,:]/)) {
    if (token === "") continue;
    const bit = bits.get(token);
    if (bit === undefined) onUnknown(token);
    else if (bit === ALL_VLOG_TAGS) return ALL_VLOG_TAGS;
    else mask |= bit;
  }
  return mask;
}
