/**
 * Where the results go.
 */
export const DEMO_FOLDER = new URL("../../../apps/cli/demo/", import.meta.url);

export const MODEL_FILES = { float: "digits-float.tflite", uint8: "digits-uint8.tflite" };

/** One label a line, in the order of the network's outputs. */
export const LABELS_FILE = "labels.txt";
