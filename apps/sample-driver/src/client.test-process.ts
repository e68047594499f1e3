/** A client in a separate process, to be killed. It reports on stdout when it has reached a phase, and stays in it. */
import { connectService } from "@nnhal/service";
import { createSharedMemory } from "@nnhal/service/shared-memory";
import { addModel as addModelOf } from "@nnhal/test-kit/models";
import { ErrorStatus, type Memory } from "@nnhal/types";
import { addModel, addRequest, burstOf, prepare } from "./models.test-helper.ts";

const [directory, phase] = process.argv.slice(2);

function makeShared(size = 2 ** 20): Memory {
  const memory = createSharedMemory(size);
  if ("refused" in memory) throw new Error(memory.refused);
  return memory;
}

const device = await connectService("nnapi-sample_all", { directory, keepAlive: true });
if ("unavailable" in device) throw new Error(device.unavailable);

/** Does something again and again; says the phase when it has been done once. */
async function forever(
  work: () => Promise<{ readonly status: number; readonly message?: string | undefined }>,
): Promise<never> {
  for (let isFirst = true; ; isFirst = false) {
    const { status, message } = await work();
    if (status !== ErrorStatus.NONE) throw new Error(`${phase}: ${status} ${message}`);
    if (isFirst) process.stdout.write(`in ${phase}\n`);
  }
}

switch (phase) {
  case "prepare":
    await forever(async () => {
      const result = await device.prepareModel(addModel);
      result.preparedModel?.close();
      return result;
    });
    break;
  case "execute": {
    const [model, memory] = [await prepare(device), makeShared()];
    await forever(() => model.execute(addRequest(memory)));
    break;
  }
  case "copy": {
    const model = await prepare(device);
    const role = [{ modelIndex: 0, ioIndex: 0, frequency: 1 }];
    const { buffer, message } = (await device.allocate?.({ dimensions: [] }, [model], role, [])) ?? { buffer: null };
    if (buffer === null) throw new Error(`allocate: ${message}`);
    const memory = createSharedMemory(8);
    if ("refused" in memory) throw new Error(memory.refused);
    await forever(() => buffer.copyFrom(memory, []));
    break;
  }
  case "burst": {
    const [model, memory] = [await prepare(device), makeShared()];
    const { burst, message } = await burstOf(model, device);
    if (burst === null) throw new Error(message);
    await forever(async () => {
      const { fallback, ...result } = await burst.compute(addRequest(memory));
      if (fallback) throw new Error(`the burst did not take the request: ${result.message}`);
      return result;
    });
    break;
  }
  case "flood": {
    // Executions of milliseconds, long compared with a wait for the processor.
    const count = 2 ** 20;
    const [model, memory] = [await prepare(device, addModelOf([count])), makeShared(12 * count)];
    process.stdout.write("in flood\n");
    const lane = async () => {
      for (;;) await model.execute(addRequest(memory, count));
    };
    await Promise.all(Array.from({ length: 100 }, lane));
    break;
  }
  default:
    throw new Error(`there is no phase ${phase}`);
}
