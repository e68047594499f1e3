/**
 * Notes of the operators that most models have, for docs/tflite.md. They are apart from the rows, which are in the bundle of every page.
 */
export const commonNotes: Readonly<Record<string, string>> = {
  CONV_2D:
    "Grouped if the input has more channels than the filters. A missing bias becomes zeros. INT8 filters with a scale per channel keep them. Hybrid layers: see above.",
  DEPTHWISE_CONV_2D: "The depth multiplier follows from the shapes. Bias and filters as for CONV_2D.",
  FULLY_CONNECTED:
    "A missing bias becomes zeros. RESHAPE follows if keepNumDims requires a result of more than two dimensions. Weights with a scale per channel, which the HAL's FULLY_CONNECTED lacks, make it a 1x1 CONV_2D. Weights in blocks with a scale each are widened by DEQUANTIZE and MUL where the layer is not hybrid. Hybrid layers: see above.",
  RESHAPE: "A computed shape is replaced by the result's own if that is known.",
  MUL: "8-bit: in float if the result's scale is not greater than the product of the inputs' scales.",
  EXP: "8-bit: DEQUANTIZE, in float, QUANTIZE.",
};
