import { library } from "../../tsup.base.ts";

// It is a part of every install of `nnhal`, so its build has no white space. Names stay, for traces of the stack.
export default library(
  { index: "src/index.ts", types: "src/types.ts" },
  {
    esbuildOptions(options) {
      Object.assign(options, { minifyWhitespace: true, minifySyntax: true, lineLimit: 200 });
    },
  },
);
