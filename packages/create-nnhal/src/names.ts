/** The rules of names: of packages by npm, of extensions by the HAL, of devices by the command line. */

/** Names that npm refuses though their characters are valid. */
const reserved = ["node_modules", "favicon.ico"];

const part = "[a-z0-9][a-z0-9._-]*";
const packageName = new RegExp(`^(@${part}/)?${part}$`);

/** Why npm refuses a name for a new package; undefined if it does not. */
export function problemOfPackageName(name: string): string | undefined {
  const what = `${JSON.stringify(name)} is not a valid name of a package:`;
  if (name.length > 214) return `${what} it has ${name.length} characters, of which 214 are allowed`;
  if (reserved.includes(name)) return `${what} npm does not allow it`;
  if (packageName.test(name)) return undefined;
  return `${what} lower case letters, digits, "-", "_" and ".", and not "-", "_" or "." first; with a scope, @scope/name`;
}

/** Parts of lower case letters, digits and underscores, with dots between them: the HAL's rule, as `isExtensionName` of @nnhal/operations has it. */
const extensionName = /^[a-z0-9_]+(\.[a-z0-9_]+)+$/;

/** Why a name is not valid for an extension; undefined if it is. */
export function problemOfExtensionName(name: string): string | undefined {
  if (extensionName.test(name)) return undefined;
  const rule = "lower case letters, digits and underscores, with at least one dot, such as com.example.fibonacci";
  return `${JSON.stringify(name)} is not a valid name of an extension: ${rule}`;
}

/** The name without its scope: "@acme/nnhal-backend-npu" is "nnhal-backend-npu". */
export function withoutScope(name: string): string {
  return name.slice(name.indexOf("/") + 1);
}

/** The words of a package's name that are its own: "@acme/nnhal-backend-fast-npu" has "fast" and "npu". */
export function ownWords(name: string): readonly string[] {
  const general = ["nnhal", "backend", "extension", ""];
  return withoutScope(name)
    .split(/[^a-z0-9]+/)
    .filter((word) => !general.includes(word));
}
