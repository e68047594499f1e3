/** Text without what changes the text around it. */

/** A name out of a file, without the control characters that would let it write elsewhere on the terminal. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ").trim();
}
