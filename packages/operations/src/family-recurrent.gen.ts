// Generated from the files in ops/ by `npm run generate`; do not edit.
export { bidirectionalSequenceLstm } from "./ops/bidirectional-sequence-lstm.ts";
export { bidirectionalSequenceRnn } from "./ops/bidirectional-sequence-rnn.ts";
export { lstm } from "./ops/lstm.ts";
export { quantized16bitLstm } from "./ops/quantized-16bit-lstm.ts";
export { quantizedLstm } from "./ops/quantized-lstm.ts";
export { rnn } from "./ops/rnn.ts";
export { svdf } from "./ops/svdf.ts";
export { unidirectionalSequenceLstm } from "./ops/unidirectional-sequence-lstm.ts";
export { unidirectionalSequenceRnn } from "./ops/unidirectional-sequence-rnn.ts";
