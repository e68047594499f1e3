/**
 * Which mutants of many run: about one of so many, by their names, so that it is the same ones each time and on every
 * machine.
 */

/** Returns true if a name belongs to the sample of about one in `rate`. */
export function isSampled(name: string, rate: number): boolean {
  return rate <= 1 || hash(name) % rate === 0;
}

/** FNV-1a over the UTF-16 units, and a last mix, since the lower bits alone would follow the last letters. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  value = Math.imul(value ^ (value >>> 16), 0x45d9f3b);
  return (value ^ (value >>> 16)) >>> 0;
}
