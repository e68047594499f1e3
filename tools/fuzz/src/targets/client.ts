/** Frames of a server to a client of a device. */
import { memoryChannels } from "@nnhal/transport/channels";
import { connectDevice } from "@nnhal/transport/client";
import { mustBeOutcome, takePrepared } from "../answers.ts";
import { memoryWith, readAs } from "../model-input.ts";
import { frames, mutateFrames } from "../mutate/frames.ts";
import { smallModels } from "../small-models.ts";
import { must, type Target } from "../target.ts";

/** Kinds of frames (`packages/transport/src/protocol/connection.ts`). */
const [helloKind, callKind, answerKind, refusalKind] = [0, 2, 3, 4];

export const client: Target = {
  name: "client",
  says: "a server answers each call of a client with the next frames of the input: every method of the client's device answers with a status",
  longest: 16_384,
  packages: ["transport", "utils"],
  mutate: mutateFrames,
  async open() {
    return {
      async run(input) {
        const given = readAs(frames, input);
        if (given === undefined) return;
        const [own, other] = memoryChannels({ mostFrame: 2 ** 20 });
        const left = given.map((frame) => frame.slice());
        other.start({
          frame({ bytes }) {
            if (bytes[0] !== helloKind && bytes[0] !== callKind) return;
            for (;;) {
              const next = left.shift();
              if (next === undefined) return other.close("there are no frames left");
              const isAnswer = next[0] === answerKind || next[0] === refusalKind;
              // An answer is for the call that has come.
              if (isAnswer && next.length >= 5 && bytes.length >= 5) next.set(bytes.subarray(1, 5), 1);
              other.send(next);
              if (isAnswer || bytes[0] === helloKind) return;
            }
          },
          onClose() {},
        });
        await use(own);
        own.close();
      },
      close: async () => {},
    };
  },
};

async function use(channel: Parameters<typeof connectDevice>[0]): Promise<void> {
  // A server that does not answer is given up soon.
  const device = await connectDevice(channel, { connectLimit: 20_000_000n, silenceLimit: 40_000_000n });
  if ("unavailable" in device) {
    must(device.unavailable !== "", () => "there is no reason why the device is not available");
    return;
  }
  const [model] = smallModels;
  must(model !== undefined, () => "there is no model");
  for (const method of [
    "getCapabilities",
    "getType",
    "getVersionString",
    "getSupportedExtensions",
    "getNumberOfCacheFilesNeeded",
  ] as const) {
    mustBeOutcome(method, device[method]());
  }
  device.getStatus();
  mustBeOutcome("getSupportedOperations", await device.getSupportedOperations(model));
  const prepared = takePrepared("prepareModel", await device.prepareModel(model));
  if (prepared !== undefined) {
    const at = (offset: number) => ({
      hasNoValue: false,
      location: { poolIndex: 0, offset, length: 4 },
      dimensions: [],
    });
    const request = {
      inputs: [at(0), at(4)],
      outputs: [at(8)],
      pools: [{ kind: "memory", memory: memoryWith(new Uint8Array(12)) } as const],
    };
    // Answers of a service are passed on; the runtime, which uses them, checks codes and shapes (packages/runtime/src/guard).
    mustBeOutcome("execute", await prepared.execute(request));
    const fenced = await prepared.executeFenced?.(request, []);
    if (fenced !== undefined) mustBeOutcome("executeFenced", fenced);
    if (fenced?.callback) mustBeOutcome("getExecutionInfo", await fenced.callback.getExecutionInfo());
    prepared.close();
  }
  const role = { modelIndex: 0, ioIndex: 0, frequency: 1 };
  const allocated = await device.allocate?.({ dimensions: [] }, [prepared ?? null], [role], []);
  if (allocated !== undefined) mustBeOutcome("allocate", allocated);
}
