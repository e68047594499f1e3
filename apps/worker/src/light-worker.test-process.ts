/**
 * A worker whose pool computes in this thread: the test is of the queue, not of the network. Ends at SIGTERM as nnhal-worker
 * does.
 */
import { setTimeout as after } from "node:timers/promises";
import type { Pool } from "@nnhal/batch";
import { openQueue } from "@nnhal/batch/queue";

const [url = ""] = process.argv.slice(2);
const pool: Pool = {
  threads: 1,
  async compute({ model }, { bytes }) {
    await model();
    // Long enough to be killed in it.
    await after(4);
    const values = [...new Float32Array(bytes.slice().buffer)];
    return { result: { outputs: [{ values }] }, files: [] };
  },
  async close() {},
};
const queue = await openQueue({ url, name: "nnhal" }, { isPatient: true });
const worker = queue.work({ pool, lock: 500 });
process.once("SIGTERM", async () => {
  await worker.close(1000);
  await queue.close();
  process.exit();
});
process.stdout.write("ready\n");
