/**
 * Executes a request in the burst that is served over the port that it is given, says so, and stays.
 */
import { parentPort, workerData } from "node:worker_threads";
import { adder } from "./raw-burst.test-helper.ts";
import { connectBurst } from "./threads.ts";

const { burst } = await connectBurst(workerData.port, { pollingWindow: 0 });
const answer = await burst?.compute(adder().request);
parentPort?.postMessage(answer?.status);
setInterval(() => {}, 60_000);
