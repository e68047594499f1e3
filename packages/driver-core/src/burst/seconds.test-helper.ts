/**
 * Seconds that pass as a test says, for waits that have an end.
 */
import { manualClock } from "@nnhal/test-kit/clock";

export const never = <T>() => new Promise<T>(() => {});
export const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A clock, on which some seconds pass one by one. */
export function secondClock() {
  const clock = manualClock();
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      clock.advance(1_000_000_000n);
      await turn();
    }
  };
  return { ...clock, pass };
}

/** Returns true if a promise is settled by now. */
export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => {
    settled = true;
  });
  await turn();
  return settled;
}
