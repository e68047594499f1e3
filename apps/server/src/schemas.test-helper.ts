/**
 * The schemas of the protocol's OpenAPI document (kserve/open-inference-protocol,
 * specification/protocol/open_inference_rest.yaml), as far as they describe responses, in JSON Schema. `data` of an output is
 * absent if it follows as bytes (binary tensor extension).
 */
import { Ajv } from "ajv";

const text = { type: "string" };
const extents = { type: "array", items: { type: "integer" } };
const named = (properties: object, required: readonly string[]) => ({ type: "object", properties, required });
const reference = (name: string) => ({ $ref: `#/$defs/${name}` });
const error = named({ error: text }, ["error"]);

const $defs = {
  metadata_server_response: named({ name: text, version: text, extensions: { type: "array", items: text } }, [
    "name",
    "version",
    "extensions",
  ]),
  metadata_server_error_response: error,
  metadata_model_response: named(
    {
      name: text,
      versions: { type: "array", items: text },
      platform: text,
      inputs: { type: "array", items: reference("metadata_tensor") },
      outputs: { type: "array", items: reference("metadata_tensor") },
      properties: { type: "object", additionalProperties: text },
    },
    ["name", "platform"],
  ),
  metadata_tensor: named({ name: text, datatype: text, shape: extents }, ["name", "datatype", "shape"]),
  metadata_model_error_response: error,
  tensor_data: {
    type: "array",
    items: { anyOf: [reference("tensor_data"), { type: "number" }, text, { type: "boolean" }] },
  },
  response_output: named(
    { name: text, shape: extents, datatype: text, parameters: { type: "object" }, data: reference("tensor_data") },
    ["name", "shape", "datatype", "data"],
  ),
  inference_response: named(
    {
      model_name: text,
      model_version: text,
      id: text,
      parameters: { type: "object" },
      outputs: { type: "array", items: reference("response_output") },
    },
    ["model_name", "outputs"],
  ),
  inference_error_response: error,
};

const ajv = new Ajv({ allErrors: true, strict: false });

/** Returns the faults of a response; empty if there are none. */
export function problemsOf(schema: keyof typeof $defs, value: unknown): readonly string[] {
  const validate = ajv.compile({ $defs, ...reference(schema) });
  validate(value);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`);
}
