import { command } from "../../tsup.base.ts";

// tsup leaves only dependencies and peers out of a bundle by itself.
export default command({ main: "src/main.ts" }, { external: ["@viz-js/viz"] });
