/**
 * A process that uses a burst in a worker, and one in its own thread, and then has nothing more to do. `close`: it ends
 * them; otherwise it forgets them, and the process may end although the worker is running.
 */
import { MessageChannel } from "node:worker_threads";
import { createLocalBurst } from "./local.ts";
import { adder } from "./raw-burst.test-helper.ts";
import { startWorker } from "./start-worker.test-helper.ts";
import { connectBurst } from "./threads.ts";

const isClosing = process.argv[2] === "close";
const { model, request } = adder();
const { port1, port2 } = new MessageChannel();
const workerData = { port: port2, pollingWindow: 0 };
const { worker } = startWorker(new URL("./burst.test-worker.ts", import.meta.url), workerData, [port2]);
const { burst } = await connectBurst(port1, { pollingWindow: 0 });
const { burst: local } = await createLocalBurst(model);
const statuses = [(await burst?.compute(request))?.status, (await local?.compute(request))?.status];
console.log(`statuses ${statuses}`);
if (isClosing) {
  await burst?.close();
  await local?.close();
} else {
  worker.unref();
}
