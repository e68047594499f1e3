/**
 * Names of operations in what devices say: a device that lacks an extension knows its operations by their codes only.
 */
import type { ExtensionDefinition } from "@nnhal/operations";

/** "com.example.audio operation 3" becomes "com.example.audio GAIN" if one of the extensions has that operation. */
export function nameOperations(text: string, extensions: readonly ExtensionDefinition[]): string {
  return text.replaceAll(/([a-z0-9_.]+) operation (\d+)/g, (found: string, extension: string, code: string) => {
    const operations = extensions.find(({ name }) => name === extension)?.operations;
    const name = operations?.find((operation) => operation.code === Number(code))?.name;
    return name === undefined ? found : `${extension} ${name}`;
  });
}
