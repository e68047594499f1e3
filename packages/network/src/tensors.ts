/**
 * @nnhal/network/tensors: the parts that programs share which deal with files and bytes of tensors themselves, such as the command
 * line: pictures and their elements, scores, labels, and tensors in messages.
 */
export { type ElementType, elementFacts, elementsOfReal, elementTypeOf, type Quantization } from "./elements.ts";
export { nameFile, whyNoModel } from "./file-kind.ts";
export { describeMisfit, type Labelled, labelLists, readLabelFile } from "./label-file.ts";
export type { LabelFinder, Labels } from "./labels.ts";
export { isNpy, type NumpyArray, readNpy, writeNpy } from "./npy.ts";
export { findPackedLabels } from "./packed-labels.ts";
export { type DecodeOptions, decodePicture } from "./picture/decode.ts";
export { checkSize, MOST_PIXELS, type Picture } from "./picture/picture.ts";
export { resize } from "./picture/resize.ts";
export {
  type Normalisation,
  type PictureLayout,
  pictureLayoutOf,
  pictureToTensor,
  whyNoPicture,
} from "./picture/to-tensor.ts";
export { parseLabels, type ScoredClass, scoresOf, topClasses } from "./scores.ts";
export { partStarts } from "./tasks/sound.ts";
export { drawableTaskOf, inputSizeOf, type ModelTensors, maskOf, type Task, taskOf } from "./tasks/task-of.ts";
export { byteSize, elementsOf, realValues, type TensorShape, type TensorValue, tensorText } from "./tensor.ts";
export { messageOf, oneLine, openShapeText, plain, shapeText } from "./text.ts";
export { textValues } from "./text-values.ts";
export { textInputs } from "./tokenize/text-inputs.ts";
