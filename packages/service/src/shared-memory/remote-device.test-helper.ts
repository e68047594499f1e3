/** The device of `transport.test-process.ts`, with a model that adds two numbers. */
import { once } from "node:events";
import { connect } from "node:net";
import { addModel } from "@nnhal/test-kit/models";
import { socketChannel } from "@nnhal/transport/channels";
import { connectDevice } from "@nnhal/transport/client";
import type { PreparedModel } from "@nnhal/types";
import { unwrap } from "./burst.test-helper.ts";
import { connectDescriptors } from "./descriptor-socket.ts";
import { descriptorWay } from "./file-way.ts";
import { createPassing, type MemoryPassing, type PassingOptions } from "./passing.ts";

/** Connects to the process that listens at a path. */
export async function prepareRemotely(path: string, options: PassingOptions = {}) {
  const descriptors = unwrap(await connectDescriptors(path));
  const socket = connect(path);
  await once(socket, "connect");
  socket.write(descriptors.secret);
  await once(socket, "data");
  let passing: MemoryPassing | undefined;
  const device = await connectDevice(socketChannel(socket), {
    passing(onUnused) {
      passing = createPassing(unwrap(descriptorWay(descriptors.fd)), { ...options, onUnused });
      return passing;
    },
  });
  if ("unavailable" in device) throw new Error(device.unavailable);
  const { preparedModel, message } = await device.prepareModel(addModel([1]));
  if (preparedModel === null) throw new Error(message);
  const model: PreparedModel = preparedModel;
  return { device, model, passing };
}
