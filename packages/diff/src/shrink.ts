/** From something that fails to something simpler that fails too. */

/** Simpler forms of something, one after the other. */
export type Candidates<Subject> = (subject: Subject) => Generator<Subject, void>;

/** The steps with which a subject is made simpler. */
export interface Shrinking<Subject> {
  /** They take turns until none of them finds a simpler form that fails. */
  readonly passes: readonly Candidates<Subject>[];
  readonly stillFails: (candidate: Subject) => Promise<boolean>;
  /** The most candidates that are tried. */
  readonly mostTries: number;
}

/** Returns the simplest form that was found. A pass begins again after each form that fails. */
export async function shrinkBy<Subject>(
  subject: Subject,
  { passes, stillFails, mostTries }: Shrinking<Subject>,
): Promise<Subject> {
  let smallest = subject;
  let tries = 0;
  for (let progress = true; progress; ) {
    progress = false;
    for (const simpler of passes) {
      for (let candidates = simpler(smallest), next = candidates.next(); !next.done; next = candidates.next()) {
        if (tries++ >= mostTries) return smallest;
        if (!(await stillFails(next.value))) continue;
        smallest = next.value;
        progress = true;
        candidates = simpler(smallest);
      }
    }
  }
  return smallest;
}
