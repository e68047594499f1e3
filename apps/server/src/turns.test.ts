/** Order by name, and removal of finished names. */
import { expect, it } from "vitest";
import { createTurns } from "./turns.ts";

/** Work that the test ends. */
function control(events: string[], name: string) {
  let end = (_?: Error) => {};
  const work = () =>
    new Promise<string>((resolve, reject) => {
      events.push(name);
      end = (error) => (error === undefined ? resolve(name) : reject(error));
    });
  return { work, end: (error?: Error) => end(error) };
}

it("work of one name has its turn when the work before has ended, well or not; other names do not wait", async () => {
  const events: string[] = [];
  const turns = createTurns();
  const [first, second, third, other] = ["first", "second", "third", "other"].map((name) => control(events, name));
  if (!first || !second || !third || !other) throw new Error("there are four");
  const results = [first, second, third].map(({ work }) => turns.take("a", work));
  const otherResult = turns.take("b", other.work);
  await expect.poll(() => events).toEqual(["first", "other"]);
  first.end();
  await expect.poll(() => events).toEqual(["first", "other", "second"]);
  second.end(new Error("it failed"));
  await expect.poll(() => events).toEqual(["first", "other", "second", "third"]);
  third.end();
  other.end();
  expect(await Promise.allSettled([...results, otherResult])).toMatchObject([
    { value: "first" },
    { reason: { message: "it failed" } },
    { value: "third" },
    { value: "other" },
  ]);
});

it("a name stays while there is work under it, and no longer, also after a failure", async () => {
  const turns = createTurns();
  const [one, two] = [control([], "one"), control([], "two")];
  const results = Promise.allSettled([turns.take("a", one.work), turns.take("b", two.work)]);
  await expect(turns.take("c", () => Promise.reject(new Error("it failed")))).rejects.toThrow("it failed");
  await expect.poll(() => turns.size).toBe(2);
  one.end();
  await expect.poll(() => turns.size).toBe(1);
  two.end();
  await results;
  await expect.poll(() => turns.size).toBe(0);
});
