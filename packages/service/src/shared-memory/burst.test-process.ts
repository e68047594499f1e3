/** Either side of a burst between two processes. Calls outside the queues are messages between the parent and its child. */
import { referenceBackend } from "@nnhal/backend-reference";
import {
  type BurstContext,
  type BurstController,
  configureExecutionBurst,
  createBurst,
} from "@nnhal/driver-core/burst";
import { openDevice } from "@nnhal/driver-core/device";
import { addModel } from "@nnhal/test-kit/models";
import { ErrorStatus, type IBurstCallback, type PreparedModel } from "@nnhal/types";
import {
  adderRequest,
  type ConfigureMessage,
  clientContext,
  memoriesOf,
  passingOver,
  unwrap,
} from "./burst.test-helper.ts";
import { burstAcrossProcesses } from "./burst-options.ts";
import { connectDescriptors } from "./descriptor-socket.ts";
import { blockingFutexSignal, createParking } from "./futex-signal.ts";
import type { MemoryPassing } from "./passing.ts";
import { answer } from "./start-peer.test-helper.ts";

let passing: MemoryPassing | undefined;
let context: BurstContext | undefined;
let burst: BurstController | null = null;
let client: ReturnType<typeof clientContext> | undefined;
const parking = createParking();

async function model(): Promise<PreparedModel> {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  const { preparedModel, message } = await device.prepareModel(addModel([1]));
  if (preparedModel === null) throw new Error(message);
  return preparedModel;
}
const prepared = await model();
const stalling = { execute: () => new Promise<never>(() => {}) };
const parked: Pick<PreparedModel, "execute"> = {
  execute: (request, options) => parking.runUnblocked(() => prepared.execute(request, options)),
};

const ask = answer({
  async connect(path: string) {
    const socket = unwrap(await connectDescriptors(path));
    passing = passingOver(socket.fd);
    return socket.secret;
  },
  /** The service's side. */
  configure({ requests, results, pollingWindow, how }: ConfigureMessage) {
    if (passing === undefined) throw new Error("not connected");
    const [requestMemory, resultMemory] = [passing.receive(requests.reference), passing.receive(results.reference)];
    const callback: IBurstCallback = { getMemories: (slots) => memoriesOf(passing, ask, slots) };
    const served = configureExecutionBurst(
      how === "stall" ? stalling : how === "park" ? parked : prepared,
      callback,
      { datum: "FmqRequestDatum", memory: unwrap(requestMemory), capacity: requests.capacity },
      { datum: "FmqResultDatum", memory: unwrap(resultMemory), capacity: results.capacity },
      {
        pollingWindow,
        ...(how === "park" && { signal: parking.signal }),
        ...(how === "block" && { signal: blockingFutexSignal() }),
      },
    );
    context = served.context ?? undefined;
    return { status: served.status, message: served.message };
  },
  freeMemory: (slot: number) => context?.freeMemory(slot),
  async close() {
    await context?.close();
  },
  /** Numbers of calls that the process answers meanwhile show that its event loop runs. */
  ping: () => "pong",
  getMemories: (slots: readonly number[]) => client?.getMemories(slots),
  /** The client's side: it executes once, and waits for the next. */
  async start() {
    client = clientContext(() => passing, ask);
    const created = await createBurst(client.configure, { ...burstAcrossProcesses(), pollingWindow: 0 });
    burst = created.burst;
    const { request, values } = adderRequest();
    values.set([1, 2, 0]);
    const { status } = (await burst?.compute(request)) ?? { status: ErrorStatus.GENERAL_FAILURE };
    return { status, sum: values[2] };
  },
});
