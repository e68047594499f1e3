/** The thread of the tests. The model is a text: `cannot run`, or a prefix of each result. */
import { parentPort } from "node:worker_threads";
import { serveBatch } from "./serve.ts";

if (parentPort !== null) {
  serveBatch(parentPort, async ({ model }, note) => {
    const prefix = new TextDecoder().decode(model);
    if (prefix === "cannot run") throw new Error("the model cannot run: it is a text");
    note("the model is a text");
    return {
      async compute({ name, bytes }) {
        const text = new TextDecoder().decode(bytes);
        if (text.startsWith("exit")) process.exit(3);
        if (text.startsWith("hang")) return new Promise(() => {});
        if (text.startsWith("bad")) return { problem: `the input ${name} is bad` };
        if (text.startsWith("broken device")) throw new Error("the device is gone");
        return { result: `${prefix} ${text}`, files: [] };
      },
      async close() {},
    };
  });
}
