/** A client of the daemon: the digit of the demonstration, read by a device of another process. The argument is the runtime directory. */
import { connectService } from "@nnhal/service";
import { load, picture, top } from "nnhal";

const device = await connectService("nnapi-sample_all", { directory: process.argv.at(-1) });
if ("unavailable" in device) throw new Error(device.unavailable);
const model = await load("digits.tflite", { devices: [device] });
const { scores } = await model.run({ input: await picture("digit.png") });
const { operations } = await model.explain();
await model.close();
device.close();
const devices = [...new Set(operations.map((each) => each.device))];
console.log(`sees a ${top(scores, 1)[0].index} with ${devices.join(", ")}`);
