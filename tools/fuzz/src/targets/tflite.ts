/** Files of networks: reading, describing and importing them. */
import {
  hasExternalBuffers,
  inspectTflite,
  mayHaveParts,
  readPackedFile,
  TfliteError,
  tfliteNeeds,
  tfliteParts,
} from "@nnhal/tflite";
import { modelIssues } from "@nnhal/validation";
import { mutateFlatbuffer } from "../mutate/flatbuffer.ts";
import { must, type Target } from "../target.ts";
import { otherFile } from "../tflite-seeds.ts";

/** Shapes that a file has wrong are found when its model is finished, not while it is imported. */
const ofShapes: readonly string[] = ["operation-shape", "output-shape"];

export const tflite: Target = {
  name: "tflite",
  says: "a .tflite file is inspected and imported: one TfliteError, or a model that is valid except for shapes",
  longest: 16_384,
  packages: ["tflite"],
  mutate: mutateFlatbuffer,
  async open() {
    return {
      async run(input) {
        try {
          if (mayHaveParts(input)) {
            for (const part of await tfliteParts(input)) {
              const { length } = await part.read();
              must(length === part.size, () => `a part has ${length} bytes, not ${part.size}`);
            }
          }
          const { start, ranges } = tfliteNeeds(input, 4 * input.length);
          must(
            start <= 4 * input.length && ranges.every(({ length }) => length > 0),
            () =>
              `expected at most all bytes of the start and ranges that are not empty, got ${start} and ${ranges.length} ranges`,
          );
          hasExternalBuffers(input);
          const { imported, problems, problemCount, packedFiles } = inspectTflite(input, { outside: [otherFile] });
          for (const { name } of packedFiles) readPackedFile(input, name);
          must(
            (imported === undefined) === problemCount > 0,
            () => `${problemCount} problems, imported ${imported !== undefined}`,
          );
          must(
            problems.every(({ message }) => message !== ""),
            () => "a problem has no message",
          );
          if (imported === undefined) return;
          const [issue] = modelIssues(imported.model).filter(({ code }) => !ofShapes.includes(code));
          must(issue === undefined, () => `the imported model is not valid: ${issue?.path}: ${issue?.message}`);
        } catch (error) {
          if (!(error instanceof TfliteError)) throw error;
          must(error.message !== "", () => "a TfliteError has no message");
        }
      },
      close: async () => {},
    };
  },
};
