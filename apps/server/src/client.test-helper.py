"""A client of another library: generated from the protocol's definition for gRPC for C. Prints what the methods answer."""
import json
import os
import sys

import grpc
from grpc_tools import protoc

proto, address, picture, folder = sys.argv[1:]
arguments = ["-I" + os.path.dirname(proto), "--python_out=" + folder, "--grpc_python_out=" + folder, proto]
if protoc.main(["protoc", *arguments]) != 0:
    sys.exit("the definition cannot be compiled")
sys.path.insert(0, folder)
import open_inference_pb2 as messages  # noqa: E402
import open_inference_pb2_grpc as services  # noqa: E402

channel = grpc.insecure_channel(address)
server = services.GRPCInferenceServiceStub(channel)
metadata = server.ModelMetadata(messages.ModelMetadataRequest(name="digits"))
request = messages.ModelInferRequest(model_name="digits")
request.inputs.add(name="picture", datatype="UINT8", shape=[1, 32, 32, 3])
with open(picture, "rb") as file:
    request.raw_input_contents.append(file.read())
answer = server.ModelInfer(request, timeout=30)
try:
    server.ModelInfer(messages.ModelInferRequest(model_name="none"))
    unknown = "OK"
except grpc.RpcError as error:
    unknown = error.code().name
print(json.dumps({
    "live": server.ServerLive(messages.ServerLiveRequest()).live,
    "ready": server.ServerReady(messages.ServerReadyRequest()).ready,
    "name": server.ServerMetadata(messages.ServerMetadataRequest()).name,
    "inputs": [[each.name, each.datatype, list(each.shape)] for each in metadata.inputs],
    "isModelReady": server.ModelReady(messages.ModelReadyRequest(name="digits")).ready,
    "output": list(answer.raw_output_contents[0]),
    "index": [[each.name, each.state] for each in server.RepositoryIndex(messages.RepositoryIndexRequest()).models],
    "unknown": unknown,
}))
