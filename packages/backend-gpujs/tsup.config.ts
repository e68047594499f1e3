import { library } from "../../tsup.base.ts";

// gpu.js as a dependency would install a Dawn of 85 MB that it cannot use on Node.js, and build `gl`. As part of the build it brings
// neither; `gl` and `webgpu` are found at run time if the user has installed them.
export default library(undefined, { platform: "node", external: ["gl", "webgpu"] });
