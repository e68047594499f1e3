/** Frames of a client to a server of devices. */
import { memoryChannels } from "@nnhal/transport/channels";
import { serve } from "@nnhal/transport/server";
import { openReference } from "../device.ts";
import { readAs } from "../model-input.ts";
import { frames, mutateFrames } from "../mutate/frames.ts";
import { must, type Target } from "../target.ts";

/** Small: a client must not be able to use up the process. */
const limits = { objects: 16, calls: 16, memories: 64, copiedBytes: 2 ** 20 };

/** Kinds of frames (`packages/transport/src/protocol/connection.ts`). */
const [callKind, answerKind, refusalKind] = [2, 3, 4];

export const server: Target = {
  name: "server",
  says: "frames go to a server of a device: every call is answered once or the connection ends, and all that the client had is freed",
  longest: 16_384,
  packages: ["transport", "utils", "driver-core"],
  mutate: mutateFrames,
  async open() {
    const device = await openReference();
    return {
      async run(input) {
        const sent = readAs(frames, input);
        if (sent === undefined) return;
        const [client, other] = memoryChannels({ mostFrame: 2 ** 20 });
        const served = serve(device, other, { limits });
        const answers = new Map<number, number>();
        let isOver = false;
        client.start({
          frame({ bytes }) {
            if (bytes[0] !== answerKind && bytes[0] !== refusalKind) return;
            const id = new DataView(bytes.buffer, bytes.byteOffset).getUint32(1, true);
            answers.set(id, (answers.get(id) ?? 0) + 1);
          },
          onClose() {
            isOver = true;
          },
        });
        const calls = new Map<number, number>();
        for (const frame of sent) {
          if (isOver) break;
          client.send(frame.slice());
          if (frame.length >= 5 && frame[0] === callKind) {
            const id = new DataView(frame.buffer, frame.byteOffset).getUint32(1, true);
            calls.set(id, (calls.get(id) ?? 0) + 1);
          }
        }
        const isAnswered = () => [...calls].every(([id, count]) => (answers.get(id) ?? 0) >= count);
        while (!isOver && !isAnswered()) await new Promise((resolve) => setImmediate(resolve));
        for (const [id, count] of answers) {
          must(
            count <= (calls.get(id) ?? 0),
            () => `call ${id} was made ${calls.get(id)} times and answered ${count} times`,
          );
        }
        client.close();
        await served.ended;
        const { objects, copiedBytes } = served.usage();
        must(
          objects === 0 && copiedBytes === 0,
          () => `${objects} objects and ${copiedBytes} bytes are left of a client that is gone`,
        );
      },
      close: () => device.close(),
    };
  },
};
