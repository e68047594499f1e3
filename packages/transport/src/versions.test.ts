/** Peers of different versions of the protocol agree on the newest that both speak, or say why there is none. */
import { createFence } from "@nnhal/driver-core/fence";
import { memoryOf } from "@nnhal/driver-core/memory";
import { addModel } from "@nnhal/test-kit/models";
import { type Device, ErrorStatus, type Hints, type Request } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { memoryChannels } from "./channel/index.ts";
import { connectDevice } from "./client/index.ts";
import { addRequest, prepare, reference } from "./ends.test-helper.ts";
import type { Channel } from "./protocol/channel.ts";
import { commonVersion, handshakeFrame, hello, protocolVersions, welcome } from "./protocol/handshake.ts";
import { serve } from "./server/index.ts";

const { NONE, GENERAL_FAILURE, INVALID_ARGUMENT } = ErrorStatus;
let device: Device;
beforeAll(async () => {
  // Without clients of its own, so that a changed device is the one that is served.
  const { connect: _, ...own } = await reference();
  device = own;
});

const hints: Hints = {
  pairs: [{ token: 0x10002, value: Uint8Array.of(1, 2, 3) }],
  extensionNameToPrefix: [{ name: "com.example.one", prefix: 1 }],
};

/** A channel whose first frame is another. */
function replaceFirst(channel: Channel, first: Uint8Array): Channel {
  let isFirst = true;
  return {
    ...channel,
    send(...sent) {
      if (isFirst) sent[0] = first;
      isFirst = false;
      return channel.send(...sent);
    },
  };
}

/** The reference, and the hints, paddings and fenced runs of set-up executions that it receives; connected by versions of the protocol. */
async function connect(versions: readonly number[]) {
  const received: unknown[] = [];
  const paddings: unknown[] = [];
  const repeated: unknown[] = [];
  const hinted: Device = {
    ...device,
    async prepareModel(model, options) {
      received.push(options?.hints);
      const { preparedModel, ...outcome } = await device.prepareModel(model, options);
      if (preparedModel === null) return { ...outcome, preparedModel };
      const { execute, executeFenced, createReusableExecution } = preparedModel;
      return {
        ...outcome,
        preparedModel: {
          ...preparedModel,
          execute(request, given) {
            received.push(given?.hints);
            paddings.push(paddingsOf(request));
            return execute(request, given);
          },
          ...(executeFenced && {
            executeFenced(request, waitFor, given) {
              received.push(given?.hints);
              paddings.push(paddingsOf(request));
              return executeFenced(request, waitFor, given);
            },
          }),
          ...(createReusableExecution && {
            async createReusableExecution(request, given) {
              received.push(given?.hints);
              paddings.push(paddingsOf(request));
              const { execution, ...outcome } = await createReusableExecution(request, given);
              if (execution === null) return { ...outcome, execution };
              const executeFenced: typeof execution.executeFenced = (waitFor, times) => {
                repeated.push(times);
                return execution.executeFenced(waitFor, times);
              };
              return { ...outcome, execution: { ...execution, executeFenced } };
            },
          }),
        },
      };
    },
  };
  const [client, server] = memoryChannels();
  serve(hinted, server);
  const first = handshakeFrame("hello", hello, { versions, service: "" });
  const remote = await connectDevice(replaceFirst(client, first));
  if ("unavailable" in remote) throw new Error(remote.unavailable);
  return { remote, received, paddings, repeated };
}

function paddingsOf({ inputs, outputs }: Request): readonly (number | undefined)[] {
  return [...inputs, ...outputs].map(({ location }) => location.padding);
}

/** A request on memory with 1, 2 and 10, 20, and its sums. */
function sumRequest() {
  const values = Float32Array.of(1, 2, 10, 20, 0, 0);
  return { request: addRequest(memoryOf(new Uint8Array(values.buffer))), values };
}

describe("a client and a server", () => {
  it("of version 2 carry hints, and executions that are set up once", async () => {
    const { remote, received } = await connect(protocolVersions);
    expect(remote.halVersion).toBe("aidl4");
    const { preparedModel } = await remote.prepareModel(addModel([2]), { hints });
    const { request, values } = sumRequest();
    expect(await preparedModel?.execute(request, { hints })).toMatchObject({ status: NONE });
    const launched = await preparedModel?.executeFenced?.(request, [], { hints });
    expect(launched).toMatchObject({ status: NONE });
    await launched?.syncFence?.wait();
    const created = await preparedModel?.createReusableExecution?.(request, { hints });
    const execution = created?.execution;
    expect(received).toEqual([hints, hints, hints, hints]);
    for (const value of [5, 7]) {
      values.fill(value, 0, 2);
      expect(await execution?.execute()).toMatchObject({ status: NONE });
      expect([...values.subarray(4)]).toEqual([value + 10, value + 20]);
    }
    const both = await Promise.all([execution?.execute(), execution?.execute()]);
    expect(both.map((result) => result?.status)).toEqual([NONE, GENERAL_FAILURE]);
    execution?.close?.();
    expect((await execution?.execute())?.status).not.toBe(NONE);
    remote.close();
  });

  it("of which one speaks only version 1 leave hints out, and repeat ordinary executions", async () => {
    const { remote, received } = await connect([1]);
    const { preparedModel } = await remote.prepareModel(addModel([2]), { hints });
    const { request, values } = sumRequest();
    expect(await preparedModel?.execute(request, { hints })).toMatchObject({ status: NONE });
    expect([...values.subarray(4)]).toEqual([11, 22]);
    expect(preparedModel?.createReusableExecution).toBeUndefined();
    expect(received).toEqual([undefined, undefined]);
    expect(remote.halVersion).toBe("1.3");
    remote.close();
  });

  /** The request of `sumRequest` with padding that lies in the memory. */
  const paddedSum = () => {
    const { request, values } = sumRequest();
    const [first, ...others] = request.inputs;
    if (first === undefined) throw new Error("the request has inputs");
    return {
      values,
      request: { ...request, inputs: [{ ...first, location: { ...first.location, padding: 16 } }, ...others] },
    };
  };

  it.each<[readonly number[], number | undefined]>([
    [[1], undefined],
    [protocolVersions, 16],
  ])("of versions %j carry the padding of arguments as %s", async (versions, padding) => {
    const { remote, paddings } = await connect(versions);
    const { preparedModel } = await remote.prepareModel(addModel([2]));
    const { request, values } = paddedSum();
    expect(await preparedModel?.execute(request)).toMatchObject({ status: NONE });
    const launched = await preparedModel?.executeFenced?.(request, []);
    expect(launched).toMatchObject({ status: NONE });
    await launched?.syncFence?.wait();
    const created = await preparedModel?.createReusableExecution?.(request);
    if (padding !== undefined) expect(await created?.execution?.execute()).toMatchObject({ status: NONE });
    expect([...values.subarray(4)]).toEqual([11, 22]);
    const expected = [padding, undefined, undefined];
    expect(paddings).toEqual(padding === undefined ? [expected, expected] : [expected, expected, expected]);
    remote.close();
  });

  it("of version 2 refuse padding beyond the memory", async () => {
    const { remote } = await connect(protocolVersions);
    const { preparedModel } = await remote.prepareModel(addModel([2]));
    const { request } = paddedSum();
    const [first, ...others] = request.inputs;
    if (first === undefined) throw new Error("the request has inputs");
    const beyond = { ...request, inputs: [{ ...first, location: { ...first.location, padding: 17 } }, ...others] };
    expect(await preparedModel?.execute(beyond)).toMatchObject({ status: INVALID_ARGUMENT });
    const wrong = { ...request, inputs: [{ ...first, location: { ...first.location, padding: -1 } }, ...others] };
    expect(await preparedModel?.execute(wrong)).toMatchObject({ status: INVALID_ARGUMENT });
    remote.close();
  });

  it("run what was set up behind fences, as it was set up", async () => {
    const { remote, received, repeated } = await connect(protocolVersions);
    const { preparedModel } = await remote.prepareModel(addModel([2]));
    const { request, values } = sumRequest();
    const created = await preparedModel?.createReusableExecution?.(request, { hints });
    for (const value of [5, 7]) {
      values.fill(value, 0, 2);
      const { fence, signal, fail } = createFence();
      const launched = await created?.execution?.executeFenced([fence], { duration: 10_000_000_000n });
      expect(launched).toMatchObject({ status: NONE });
      expect(await created?.execution?.execute()).toMatchObject({ status: GENERAL_FAILURE });
      if (value === 5) signal();
      else fail();
      expect(await launched?.syncFence?.wait()).toBe(value === 5 ? "SIGNALED" : "ERROR");
      if (value === 5) expect([...values.subarray(4)]).toEqual([value + 10, value + 20]);
    }
    expect(repeated).toEqual([{ duration: 10_000_000_000n }, { duration: 10_000_000_000n }]);
    // Neither was executed anew.
    expect(received).toEqual([undefined, hints]);
    const failed = createFence();
    failed.fail();
    expect(await created?.execution?.executeFenced([failed.fence])).toMatchObject({ status: INVALID_ARGUMENT });
    expect(await created?.execution?.executeFenced(5 as never)).toMatchObject({ status: INVALID_ARGUMENT });
    expect(await created?.execution?.execute()).toMatchObject({ status: NONE });
    remote.close();
  });

  it("repeat ordinary executions of a device that sets none up", async () => {
    const [client, server] = memoryChannels();
    const plain: Device = {
      ...device,
      async prepareModel(model, options) {
        const { preparedModel, ...outcome } = await device.prepareModel(model, options);
        if (preparedModel === null) return { ...outcome, preparedModel };
        const { createReusableExecution: _, ...others } = preparedModel;
        return { ...outcome, preparedModel: others };
      },
    };
    serve(plain, server);
    const remote = await connectDevice(client);
    if ("unavailable" in remote) throw new Error(remote.unavailable);
    const model = await prepare(remote, addModel([2]));
    const { request, values } = sumRequest();
    const created = await model.createReusableExecution?.(request);
    for (const value of [5, 7]) {
      values.fill(value, 0, 2);
      expect(await created?.execution?.execute()).toMatchObject({ status: NONE });
      expect([...values.subarray(4)]).toEqual([value + 10, value + 20]);
      values.fill(value + 1, 0, 2);
      const launched = await created?.execution?.executeFenced([]);
      expect(launched).toMatchObject({ status: NONE });
      await launched?.syncFence?.wait();
      expect([...values.subarray(4)]).toEqual([value + 11, value + 21]);
    }
    remote.close();
  });

  it("without a version in common say which each speaks", async () => {
    const [client, server] = memoryChannels();
    serve(device, server);
    const first = handshakeFrame("hello", hello, { versions: [3, 4], service: "" });
    expect(await connectDevice(replaceFirst(client, first))).toEqual({
      unavailable: expect.stringContaining("the service speaks versions 1, 2 of the protocol, the client 3, 4"),
    });
  });

  it("end if the server chooses a version that the client does not speak", async () => {
    const [client, server] = memoryChannels();
    const answer = {
      ...({ refusal: null, version: 7, name: "x", halVersion: "1.3", status: 0 } as const),
      ...{ prepareModelFromCache: false, allocate: false },
    };
    server.start({ frame: () => server.send(handshakeFrame("welcome", welcome, answer)), onClose() {} });
    expect(await connectDevice(client)).toEqual({
      unavailable: expect.stringContaining("the service chose version 7 of the protocol, of 1, 2"),
    });
  });

  it.each([
    [[1, 2], 2],
    [[2, 1, 3], 2],
    [[1], 1],
    [[], undefined],
    [[0, 3], undefined],
  ])("that speak %j agree on %s", (versions, expected) => {
    expect(commonVersion(versions)).toBe(expected);
  });
});
