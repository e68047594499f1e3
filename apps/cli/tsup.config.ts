import { command } from "../../tsup.base.ts";

// tsup leaves only dependencies and peers out of a bundle by itself. Engines are found, not bundled.
export default command({ main: "src/main.ts" }, { external: ["@viz-js/viz", /^@nnhal\/backend-/] });
