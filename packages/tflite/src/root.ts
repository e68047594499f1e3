/**
 * The root table of a .tflite file.
 */
import { ensure } from "./error.ts";
import { follow, type Source } from "./flatbuffer/source.ts";
import { readTable } from "./flatbuffer/table.ts";
import { FILE_IDENTIFIER, type ModelRow, modelLayout, SCHEMA_VERSION } from "./schema/tables.ts";

/** Refuses bytes that are not a .tflite file, and reads the root table. */
export function readRoot(source: Source): ModelRow {
  const { bytes } = source;
  ensure(bytes.length >= 8, "", () => `a .tflite file has at least 8 bytes, this one has ${bytes.length}`);
  const identifier = String.fromCharCode(...bytes.subarray(4, 8));
  ensure(
    identifier === FILE_IDENTIFIER,
    "",
    () => `bytes 4 to 8 of a .tflite file are "${FILE_IDENTIFIER}", here they are ${JSON.stringify(identifier)}`,
  );
  const row = readTable(source, modelLayout, follow(source, 0, "model"), "model");
  ensure(
    row.version === SCHEMA_VERSION,
    "model.version",
    () => `schema version ${row.version} is not supported, only ${SCHEMA_VERSION}`,
  );
  return row;
}
