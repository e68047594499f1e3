import { elementAt } from "@nnhal/operations";
import { ErrorStatus } from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { expect, it } from "vitest";
import { createPacketBurst } from "./controller.ts";
import { type PacketEnds, packetEnds } from "./packet-ends.ts";
import { adder } from "./raw-burst.test-helper.ts";
import { wordsPerSlot } from "./ring.ts";
import { type BurstContext, servePackets } from "./server.ts";

const { NONE, GENERAL_FAILURE, DEVICE_UNAVAILABLE } = ErrorStatus;

/** A connection that carries packets both ways, each in a separate turn, as messages are. */
function connection(capacity?: number) {
  let isOpen = true;
  const sides: PacketEnds[] = [];
  const sendTo = (side: number) => (packet: Int32Array) => {
    const copy = packet.slice();
    setImmediate(() => isOpen && sides[side]?.receive(copy));
  };
  sides.push(packetEnds(sendTo(1), capacity), packetEnds(sendTo(0), capacity));
  return {
    client: elementAt(sides, 0),
    service: elementAt(sides, 1),
    disconnect() {
      isOpen = false;
      for (const side of sides) side.disconnect();
    },
  };
}

async function start(model = adder().model, capacity?: number) {
  const { client, service, disconnect } = connection(capacity);
  let served: BurstContext | undefined;
  const { burst, message } = await createPacketBurst(
    (callback) => {
      const context = servePackets(model, callback, service);
      served = context;
      // The client's goodbye is all that ends the service.
      return { status: NONE, context: { freeMemory: context.freeMemory } };
    },
    client,
    { direct: false },
  );
  if (burst === null || served === undefined) throw new Error(message);
  return { burst, disconnect, served };
}

it("executes requests with memories that come and go", async () => {
  const { burst, served } = await start();
  const adders = [adder(), adder()];
  for (let count = 0; count < 20; count++) {
    const { request, values, memory } = elementAt(adders, count % 2);
    values.set([count, 1, Number.NaN]);
    expect(await burst.compute(request)).toMatchObject({ status: NONE });
    expect(values[2]).toBe(count + 1);
    if (count % 3 === 0) await burst.freeMemory(memory);
  }
  await burst.close();
  await served.ended;
});

it("falls back for a packet that is longer than the queue, and has room for one that fits", async () => {
  const { request } = adder();
  // Two inputs and an output with a dimension each, a pool, the information and the timing.
  const short = await start(undefined, 8);
  expect(await short.burst.compute(request)).toMatchObject({ status: GENERAL_FAILURE, fallback: true });
  const long = await start(undefined, 9);
  expect(await long.burst.compute(request)).toMatchObject({ status: NONE });
  await short.burst.close();
  await long.burst.close();
});

it("ends on both sides when the connection does, with the request under way", async () => {
  let finish = () => {};
  const result = { status: NONE, outputShapes: [], timing: notMeasured };
  const { burst, disconnect, served } = await start({
    execute: () =>
      new Promise((resolve) => {
        finish = () => resolve(result);
      }),
  });
  const { request } = adder();
  const underWay = burst.compute(request);
  await new Promise((resolve) => setTimeout(resolve, 5));
  disconnect();
  expect(await underWay).toMatchObject({ status: DEVICE_UNAVAILABLE, fallback: false });
  expect(await burst.compute(request)).toMatchObject({ status: GENERAL_FAILURE, fallback: true });
  finish();
  await served.ended;
});

it("ends the client when the service does", async () => {
  const { burst, served } = await start();
  await served.close();
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await burst.compute(adder().request)).toMatchObject({ status: GENERAL_FAILURE, fallback: true });
});

it("refuses a side that sends more than fits", () => {
  const { client } = connection(4);
  const packet = new Int32Array(2 * wordsPerSlot).fill(1);
  client.receive(packet);
  client.receive(packet);
  expect(client.reader.read()).toEqual(packet);
  client.receive(packet);
  client.receive(packet.subarray(wordsPerSlot));
  expect(client.reader.read()).toEqual(new Int32Array(0));
});

it("counts signs of life, and is not woken by them", () => {
  const { client } = connection();
  const before = client.reader.pulse();
  client.receive(new Int32Array(0));
  expect(client.reader.pulse()).toBe(before + 1);
  expect(client.reader.read()).toBeUndefined();
});
