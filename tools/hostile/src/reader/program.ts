/**
 * A program that reads files with `@nnhal/network` as messages `{ id, read, path }` demand, and answers each with the outcome.
 * It is attacked by surfaces that are files.
 */
import { load, picture, sound } from "@nnhal/network";
import type { ReaderAnswer, ReaderQuestion } from "./reader.ts";

/** Milliseconds after which a picture is given up. */
const patience = 20_000;

const works: Readonly<Record<ReaderQuestion["read"], (question: ReaderQuestion) => Promise<readonly number[]>>> = {
  nothing: async () => [],
  async picture({ path }) {
    const { width, height } = await picture(path, { signal: AbortSignal.timeout(patience) });
    return [width, height];
  },
  async sound({ path }) {
    const { rate, samples } = await sound(path, { signal: AbortSignal.timeout(patience) });
    return [rate, samples.length];
  },
  async model({ path, cache }) {
    const model = await load(path, { devices: "reference", ...(cache !== undefined && { cache }) });
    try {
      if (cache === undefined) return [model.outputs.length, model.outputs[0]?.labels?.length ?? 0];
      const outputs = await model.run(Object.fromEntries(model.inputs.map(({ name }, place) => [name, [place + 3]])));
      return Object.values(outputs).flatMap(({ data }) => Array.from(data, Number));
    } finally {
      await model.close();
    }
  },
};

process.on("message", async (question: ReaderQuestion) => {
  const answer = (rest: Pick<ReaderAnswer, "result" | "problem">) =>
    process.send?.({ id: question.id, ...rest } satisfies ReaderAnswer);
  try {
    answer({ result: await works[question.read](question) });
  } catch (error) {
    const { name, message } = error instanceof Error ? error : { name: typeof error, message: String(error) };
    answer({ problem: { name, message } });
  }
});
// The other end has gone.
process.on("disconnect", () => process.exit(0));
process.stdout.write("ready\n");
