/**
 * Entry of a web worker.
 */
import { serve } from "./serve.ts";
import { portOfStarter } from "./worker-port.ts";

export { type Provided, provide } from "./serve.ts";
export { serve };

if ("WorkerGlobalScope" in globalThis) serve(portOfStarter());
