import { library } from "../../tsup.base.ts";

export default library({
  index: "src/index.ts",
  authoring: "src/authoring.ts",
  compiling: "src/compiling.ts",
  kernels: "src/kernels.ts",
});
