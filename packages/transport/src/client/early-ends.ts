/** Ends that come before the object is known: the end of a fence or a burst can come in one piece with the answer that names it. */

/** Most ends that are kept of objects which no answer has named yet. */
const mostEarly = 1024;

/** Keeps ends of objects that are not known yet. The oldest are dropped. */
export function createEarlyEnds<End>() {
  const ends = new Map<number, End>();
  return {
    keep(id: number, end: End) {
      ends.set(id, end);
      const [oldest] = ends.keys();
      if (ends.size > mostEarly && oldest !== undefined) ends.delete(oldest);
    },
    take(id: number): End | undefined {
      const end = ends.get(id);
      ends.delete(id);
      return end;
    },
  };
}
