import { library } from "../../tsup.base.ts";

export default library({
  index: "src/index.ts",
  authoring: "src/authoring.ts",
  compiling: "src/compiling.ts",
  tflite: "src/tflite.ts",
  "tflite-types": "src/tflite-types.ts",
});
