/**
 * Every rule that validation applies, by the code that an issue carries. `rule` numbers follow the order in which the
 * rules are applied: 1 – 41 models, 42 – 50 requests, 51 – 55 the other checks of the HAL's validators. Numbers from 56 on are rules
 * that the HAL implies or states elsewhere, and that its own validator leaves to the execution.
 */

/** One rule. Rules with several aspects have one row for each, under the same number. */
export interface Rule {
  readonly rule: number;
  /** Where the HAL states it: the version, and the struct, method or type. */
  readonly hal: string;
  readonly says: string;
}

export const rules = {
  "model-empty": { rule: 1, hal: "1.0 Model", says: "The main subgraph has operands and operations." },
  "operand-type": { rule: 2, hal: "1.0 OperandType", says: "An operand's type exists in the model's HAL version." },
  "scalar-rank": {
    rule: 3,
    hal: "1.0 Operand.dimensions",
    says: "Scalars and subgraph references have no dimensions.",
  },
  "tensor-rank": {
    rule: 4,
    hal: "1.2 Operand.dimensions",
    says: "Before HAL 1.2 a tensor has at least one dimension.",
  },
  "constant-dimensions": {
    rule: 5,
    hal: "1.0 Operand.dimensions",
    says: "A constant tensor has at least one dimension, and all its extents are known.",
  },
  "scale-none": { rule: 6, hal: "1.0 Operand.scale", says: "The scale of a type that has none is 0." },
  "scale-bias": { rule: 7, hal: "1.0 TENSOR_INT32", says: "The scale of a TENSOR_INT32 is 0 or positive." },
  "scale-positive": { rule: 8, hal: "1.0 Operand.scale", says: "The scale of a quantised tensor is positive." },
  "zero-point-none": { rule: 9, hal: "1.0 Operand.zeroPoint", says: "The zero point of a type that has none is 0." },
  "zero-point-quant8": { rule: 10, hal: "1.0 TENSOR_QUANT8_ASYMM", says: "The zero point is within [0, 255]." },
  "zero-point-quant8-signed": {
    rule: 11,
    hal: "1.3 TENSOR_QUANT8_ASYMM_SIGNED",
    says: "The zero point is within [-128, 127].",
  },
  "zero-point-quant16": { rule: 12, hal: "1.2 TENSOR_QUANT16_ASYMM", says: "The zero point is within [0, 65535]." },
  "extra-params-none": { rule: 13, hal: "1.2 Operand.extraParams", says: "The HAL's other types have no extraParams." },
  "channel-quant": {
    rule: 14,
    hal: "1.2 SymmPerChannelQuantParams",
    says: "A TENSOR_QUANT8_SYMM_PER_CHANNEL carries channelQuant, whose channelDim is one of its dimensions.",
  },
  "channel-scales-count": {
    rule: 15,
    hal: "1.2 SymmPerChannelQuantParams.scales",
    says: "There is one channel scale for each index of the channel dimension.",
  },
  "channel-extent": {
    rule: 16,
    hal: "1.2 SymmPerChannelQuantParams.channelDim",
    says: "The extent of the channel dimension is known.",
  },
  "channel-scales-positive": {
    rule: 17,
    hal: "1.2 SymmPerChannelQuantParams.scales",
    says: "Every channel scale is positive.",
  },
  "extra-params-extension": {
    rule: 18,
    hal: "1.2 Operand.extraParams",
    says: "An extension type's extraParams are none or extension.",
  },
  "constant-copy-pool": { rule: 19, hal: "1.0 Operand.location", says: "The poolIndex of a CONSTANT_COPY is 0." },
  "constant-copy-range": {
    rule: 20,
    hal: "1.0 Operand.location",
    says: "A CONSTANT_COPY lies within Model.operandValues.",
  },
  "constant-reference-range": {
    rule: 21,
    hal: "1.0 Operand.location",
    says: "A CONSTANT_REFERENCE lies within one of Model.pools.",
  },
  "location-unused": {
    rule: 22,
    hal: "1.0 Operand.location",
    says: "The location of an operand that is not a constant is all 0.",
  },
  "subgraph-location": {
    rule: 23,
    hal: "1.3 Operand.location",
    says: "A SUBGRAPH's location has poolIndex 0, length 0, and as offset the index of a referenced subgraph.",
  },
  "operand-lifetime": { rule: 24, hal: "1.0 OperandLifeTime", says: "The lifetime exists in the model's HAL version." },
  "subgraph-lifetime": {
    rule: 25,
    hal: "1.3 OperandLifeTime",
    says: "Operands of type SUBGRAPH have lifetime SUBGRAPH, and no others have.",
  },
  "constant-length": {
    rule: 26,
    hal: "1.0 Operand.location",
    says: "A constant's length is the size of its type and dimensions.",
  },
  "operation-type": {
    rule: 27,
    hal: "1.0 OperationType",
    says: "An operation's type exists in the model's HAL version and has a definition.",
  },
  "operation-operand-index": {
    rule: 27,
    hal: "1.0 Operation.inputs",
    says: "An operation's inputs and outputs are indexes of operands of its subgraph.",
  },
  "operation-signature": {
    rule: 27,
    hal: "1.0 OperationType",
    says: "Number and types of an operation's operands are a combination that it is documented for.",
  },
  "operation-version": {
    rule: 27,
    hal: "1.0 OperationType",
    says: "The combination of operands, their values included, is documented for the model's HAL version.",
  },
  "operation-rank": {
    rule: 27,
    hal: "1.0 OperationType",
    says: "If an operand's rank is known, the operation allows it.",
  },
  "operation-rule": { rule: 27, hal: "1.0 OperationType", says: "The operation's own rules on its operands hold." },
  "extension-operation-version": {
    rule: 28,
    hal: "1.2 OperationType",
    says: "Operations of extensions need HAL 1.2.",
  },
  "control-flow-counts": {
    rule: 29,
    hal: "1.3 IF, WHILE",
    says: "The subgraphs of an IF or WHILE have as many inputs and outputs as the operation requires; there is an output.",
  },
  "control-flow-condition": {
    rule: 29,
    hal: "1.3 IF, WHILE",
    says: "The condition is a TENSOR_BOOL8 of shape [1].",
  },
  "control-flow-compatibility": {
    rule: 29,
    hal: "1.3 IF, WHILE",
    says: "Operands that are passed to a subgraph and back agree in type, known dimensions, scale, zeroPoint and extraParams.",
  },
  "while-unknown-size": {
    rule: 29,
    hal: "1.3 WHILE",
    says: "For a driver, the dimensions of all operands of a WHILE and of its subgraphs' inputs and outputs are known.",
  },
  "output-lifetime": {
    rule: 30,
    hal: "1.0 OperandLifeTime",
    says: "An operation writes only TEMPORARY_VARIABLE and SUBGRAPH_OUTPUT operands.",
  },
  "boundary-index": {
    rule: 31,
    hal: "1.0 Model.inputIndexes",
    says: "The indexes of a subgraph's inputs and outputs are indexes of its operands.",
  },
  "boundary-lifetime": {
    rule: 32,
    hal: "1.0 Model.inputIndexes",
    says: "A listed input has lifetime SUBGRAPH_INPUT, a listed output SUBGRAPH_OUTPUT.",
  },
  "boundary-duplicate": { rule: 33, hal: "1.0 Model.inputIndexes", says: "No input and no output is listed twice." },
  "boundary-unlisted": {
    rule: 34,
    hal: "1.0 Model.inputIndexes",
    says: "Every operand of lifetime SUBGRAPH_INPUT or SUBGRAPH_OUTPUT is listed.",
  },
  "model-pool": {
    rule: 35,
    hal: "1.0 Model.pools",
    says: "A pool's name exists in the model's HAL version, its handle is not null, and it is as long as its size.",
  },
  "read-before-write": {
    rule: 36,
    hal: "1.0 Model.operations",
    says: "Operations are in execution order: each reads only operands that were written before. A cycle breaks this too.",
  },
  "single-writer": { rule: 37, hal: "1.0 OperandLifeTime", says: "An operand is written once." },
  "number-of-consumers": {
    rule: 38,
    hal: "1.0 Operand.numberOfConsumers",
    says: "numberOfConsumers counts how often operations read the operand; one that reads it twice counts twice.",
  },
  "never-written": {
    rule: 39,
    hal: "1.0 OperandLifeTime",
    says: "Every TEMPORARY_VARIABLE and SUBGRAPH_OUTPUT is written.",
  },
  "referenced-subgraphs": {
    rule: 40,
    hal: "1.3 Model.referenced",
    says: "Referenced subgraphs need HAL 1.3. Rules 2 to 39 hold for each of them, whether or not an operand refers to it.",
  },
  "subgraph-cycle": {
    rule: 41,
    hal: "1.3 Model.referenced",
    says: "No subgraph refers to itself, directly or through others.",
  },
  "argument-count": {
    rule: 42,
    hal: "1.0 Request",
    says: "A request has one argument for each of the model's inputs and outputs.",
  },
  "argument-no-value": {
    rule: 43,
    hal: "1.0 RequestArgument.hasNoValue",
    says: "An omitted argument has a location of all 0 and no dimensions.",
  },
  "argument-location": {
    rule: 44,
    hal: "1.0 RequestArgument.location",
    says: "An argument with its padding lies within one of the request's pools; on a token's pool offset and length are 0.",
  },
  "argument-shape-unknown": {
    rule: 45,
    hal: "1.0 RequestArgument.dimensions",
    says: "An input without dimensions of its own has known dimensions in the model.",
  },
  "argument-rank": {
    rule: 46,
    hal: "1.0 RequestArgument.dimensions",
    says: "The number of an argument's dimensions is that of the model, if the model knows it.",
  },
  "argument-extent": {
    rule: 47,
    hal: "1.0 RequestArgument.dimensions",
    says: "An argument's extents are those of the model, if the model knows them.",
  },
  "argument-extent-zero": {
    rule: 48,
    hal: "1.0 RequestArgument.dimensions",
    says: "The dimensions of an input argument are all known.",
  },
  "output-shape-unknown": {
    rule: 49,
    hal: "1.2 RequestArgument.dimensions",
    says: "An output's dimensions may be unknown since HAL 1.2, and only if the kind of execution allows it.",
  },
  "request-pool": {
    rule: 50,
    hal: "1.0 Request.pools",
    says: "A pool's name exists in the HAL version, its handle is not null, it is as long as its size; a token is > 0.",
  },
  "execution-preference": { rule: 51, hal: "1.1 ExecutionPreference", says: "The preference is a member of the enum." },
  priority: { rule: 52, hal: "1.3 Priority", says: "The priority is a member of the enum." },
  "buffer-models": { rule: 53, hal: "1.3 IDevice.allocate", says: "A buffer belongs to at least one prepared model." },
  "buffer-roles": { rule: 53, hal: "1.3 IDevice.allocate", says: "A buffer has at least one role." },
  "buffer-role-model-index": {
    rule: 53,
    hal: "1.3 BufferRole.modelIndex",
    says: "A role's modelIndex is the index of a prepared model.",
  },
  "buffer-role-model": {
    rule: 53,
    hal: "1.3 IDevice.allocate",
    says: "A role's prepared model is not null, and is one of this device.",
  },
  "buffer-role-index": {
    rule: 53,
    hal: "1.3 BufferRole.ioIndex",
    says: "A role's ioIndex is the index of an input or output of the prepared model.",
  },
  "buffer-role-frequency": { rule: 53, hal: "1.3 BufferRole.frequency", says: "A role's frequency is within (0, 1]." },
  "buffer-role-duplicate": {
    rule: 53,
    hal: "1.3 IDevice.allocate",
    says: "No role occurs twice, not even through two indexes of one prepared model.",
  },
  "buffer-type": { rule: 54, hal: "1.3 IDevice.allocate", says: "The operands of all roles have the same type." },
  "buffer-scale": { rule: 54, hal: "1.3 IDevice.allocate", says: "The operands of all roles have the same scale." },
  "buffer-zero-point": {
    rule: 54,
    hal: "1.3 IDevice.allocate",
    says: "The operands of all roles have the same zeroPoint.",
  },
  "buffer-extra-params": {
    rule: 54,
    hal: "1.3 IDevice.allocate",
    says: "The operands of all roles have the same extraParams; those of extension types are not compared.",
  },
  "buffer-dimensions": {
    rule: 54,
    hal: "1.3 BufferDesc.dimensions",
    says: "The dimensions of the descriptor and of all roles' operands do not contradict each other.",
  },
  "buffer-scalar-dimensions": {
    rule: 54,
    hal: "1.3 BufferDesc.dimensions",
    says: "The buffer of a scalar has no dimensions.",
  },
  "type-range": {
    rule: 55,
    hal: "1.2 OperandTypeRange, OperationTypeRange",
    says: "A type's code is one that the HAL version knows, or since 1.2 one of an extension.",
  },
  structure: {
    rule: 56,
    hal: "1.0 types.hal",
    says: "Every field holds a value of the kind that the HAL declares.",
  },
  "operand-no-value": {
    rule: 57,
    hal: "1.0 OperandLifeTime.NO_VALUE",
    says: "Only an optional operand of an operation has lifetime NO_VALUE.",
  },
  "extension-mapping": {
    rule: 58,
    hal: "1.2 Model.extensionNameToPrefix",
    says: "Each extension has one prefix, which is not 0, and each prefix belongs to one extension.",
  },
  "operand-size": {
    rule: 59,
    hal: "1.0 DataLocation.length",
    says: "An operand of known dimensions takes less than 2^32 bytes.",
  },
  "opaque-pool": {
    rule: 60,
    hal: "1.2 Model.pools",
    says: "A hardware_buffer pool holds no constant, and an argument takes all of it: offset and length are 0.",
  },
  "capabilities-performance": {
    rule: 61,
    hal: "1.0 PerformanceInfo",
    says: "Execution time and power usage are positive numbers.",
  },
  "capabilities-order": {
    rule: 62,
    hal: "1.2 Capabilities.operandPerformance",
    says: "operandPerformance is sorted by type, and no type occurs twice.",
  },
  "capabilities-type": {
    rule: 63,
    hal: "1.3 Capabilities.operandPerformance",
    says: "operandPerformance has types of the HAL's own, and not SUBGRAPH.",
  },
  "extension-name": {
    rule: 64,
    hal: "1.2 Extension.name",
    says: "An extension's name has lower case letters, digits, underscores and at least one dot; each occurs once.",
  },
  "extension-operand-type": {
    rule: 65,
    hal: "1.2 Extension.operandTypes",
    says: "An extension's operand types have 16-bit codes, each once, and a size in bytes.",
  },
  "argument-length": {
    rule: 66,
    hal: "1.0 RequestArgument.location",
    says: "An input whose dimensions are known is at least as long as its type and dimensions need.",
  },
  "result-status": { rule: 67, hal: "1.0 ErrorStatus", says: "The status of a result is a member of the enum." },
  "result-shape-count": {
    rule: 68,
    hal: "1.2 IExecutionCallback.notify_1_2",
    says: "NONE and OUTPUT_INSUFFICIENT_SIZE come with one shape for each output.",
  },
  "result-sufficient": {
    rule: 69,
    hal: "1.2 OutputShape.isSufficient",
    says: "Every output is sufficient if the status is NONE, and at least one is not if it is OUTPUT_INSUFFICIENT_SIZE.",
  },
  "result-dimensions": {
    rule: 70,
    hal: "1.2 OutputShape.dimensions",
    says: "The shape of a result agrees with all dimensions that the model and the request specify.",
  },
  "result-size": {
    rule: 71,
    hal: "1.2 OutputShape.dimensions",
    says: "A result takes less than 2^32 bytes, and no more than are available if isSufficient is true.",
  },
  "operation-shape": {
    rule: 72,
    hal: "1.0 OperationType",
    says: "An operation can compute its outputs from the known shapes and constants, declared or inferred.",
  },
  "output-shape": {
    rule: 72,
    hal: "1.0 OperationType",
    says: "The declared dimensions of an output do not contradict the shape that the operation infers.",
  },
  "extension-prefix": {
    rule: 73,
    hal: "1.2 Model.extensionNameToPrefix",
    says: "The prefix of a type or operation of an extension is one of extensionNameToPrefix.",
  },
  "extension-data": {
    rule: 74,
    hal: "1.2 Operand.extraParams",
    says: "An operand has the extension data that the description of its type requires, if the description is known.",
  },
  "argument-exact-length": {
    rule: 75,
    hal: "AIDL 1 RequestArgument.location",
    says: "An argument in memory has the length that its type and dimensions need if these are known, else one above 0.",
  },
  "model-padding": { rule: 76, hal: "AIDL 1 DataLocation.padding", says: "The padding of a model's operand is 0." },
  "referenced-empty": { rule: 77, hal: "AIDL 1 Model", says: "A referenced subgraph has operands and operations." },
} as const satisfies Readonly<Record<string, Rule>>;

/** The code of a rule. */
export type RuleCode = keyof typeof rules;
