/** A device for the clients of sockets, in a separate process. */
import { createServer } from "node:net";
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { socketChannel } from "@nnhal/transport/channels";
import { serve } from "@nnhal/transport/server";
import { unwrap } from "./burst.test-helper.ts";
import { type DescriptorSocket, serveDescriptors } from "./descriptor-socket.ts";
import { descriptorWay } from "./file-way.ts";
import { createPassing } from "./passing.ts";
import { answer } from "./start-peer.test-helper.ts";

const device = await openDevice({ backend: referenceBackend });
if ("unavailable" in device) throw new Error(device.unavailable);

answer({
  async listen(path: string) {
    const descriptors = unwrap(await serveDescriptors(path));
    const server = createServer((socket) => {
      // The first bytes of a connection are the secret of its descriptors, as a service's own greeting would say it.
      socket.once("data", async (secret) => {
        socket.pause();
        const channel: DescriptorSocket = unwrap(await descriptors.accept(new Uint8Array(secret), socket));
        const { ended } = serve(device, socketChannel(socket), {
          passing: (onUnused) => createPassing(unwrap(descriptorWay(channel.fd)), { onUnused }),
        });
        void ended.then(() => channel.close());
        socket.resume();
        socket.write("+");
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(path, resolve);
    });
  },
});
