/**
 * Entry of the page's worker; and of the worker for gpu.js, which is named so: that has a policy of its own, and runs one model.
 */
import { portOfStarter, provide, serve } from "@nnhal/network/session";
import { expose } from "comlink";
import { createEngine } from "./engine.ts";
import { GPUJS } from "./gpujs-name.ts";

if (self.name === GPUJS) {
  provide({
    engines: [() => import("@nnhal/backend-gpujs"), () => import("@nnhal/backend-wasm")],
    extensions: [() => import("@nnhal/extension-mediapipe")],
  });
  serve(portOfStarter());
} else expose(createEngine());
