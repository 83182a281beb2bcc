"""A customer's client: grpcio and stubs generated from `proto/`, nothing of ours.

    client.py ADDRESS KEY TOOL STALE_HASH

Against a running server it checks health and reflection, lists the tools page by page, tries to approve TOOL (a
namespaced name) by the fingerprint STALE_HASH, which is that of a definition that changed since, then approves it by the
present one while watching, and sees it become served. Any surprise is an exception, so the exit code is not 0.
"""

import sys

import grpc
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from grpc_status import rpc_status

from toolgate.v1 import change_pb2, tool_catalog_pb2, tool_catalog_pb2_grpc, tool_governance_pb2
from toolgate.v1 import tool_governance_pb2_grpc, tool_pb2

SERVICES = ["toolgate.v1.ToolCatalog", "toolgate.v1.ToolGovernance"]
DEADLINE_SECONDS = 60


def check_health(channel):
    health = health_pb2_grpc.HealthStub(channel)
    for service in ["", *SERVICES]:
        answer = health.Check(health_pb2.HealthCheckRequest(service=service), timeout=DEADLINE_SECONDS)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING, (service, answer)
        print(f"health of {service or 'the server'}: SERVING")
    try:
        health.Check(health_pb2.HealthCheckRequest(service="no.such.Service"), timeout=DEADLINE_SECONDS)
        raise AssertionError("a service that is not there has a health")
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.NOT_FOUND, error


def check_reflection(channel):
    database = ProtoReflectionDescriptorDatabase(channel)
    services = set(database.get_services())
    assert services >= set(SERVICES), services
    file = database.FindFileContainingSymbol(SERVICES[0])
    methods = [method.name for service in file.service for method in service.method]
    assert "ListTools" in methods, methods
    print(f"reflection: {sorted(services)}; methods of {SERVICES[0]}: {methods}")


class Client:
    def __init__(self, channel, key):
        self.catalog = tool_catalog_pb2_grpc.ToolCatalogStub(channel)
        self.governance = tool_governance_pb2_grpc.ToolGovernanceStub(channel)
        self.call = {"metadata": [("authorization", f"Bearer {key}")], "timeout": DEADLINE_SECONDS}

    def list_tools(self, page_size):
        request = tool_catalog_pb2.ListToolsRequest(page_size=page_size)
        tools = []
        while True:
            page = self.catalog.ListTools(request, **self.call)
            assert len(page.tools) <= page_size
            tools += page.tools
            if not page.next_page_token:
                return tools
            request.page_token = page.next_page_token

    def get_tool(self, tool_id):
        return self.catalog.GetTool(tool_catalog_pb2.GetToolRequest(id=tool_id), **self.call).tool

    def approve(self, tool, definition_hash):
        request = tool_governance_pb2.ApproveToolRequest(id=tool.id, definition_hash=definition_hash)
        return self.governance.ApproveTool(request, **self.call)

    def watch(self):
        return self.catalog.WatchTools(tool_catalog_pb2.WatchToolsRequest(), **self.call)


def check_stale_approval(client, tool, stale_hash):
    try:
        client.approve(tool, stale_hash)
        raise AssertionError("a stale fingerprint was approved")
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.ABORTED, error
        details = rpc_status.from_call(error).details
    info = error_details_pb2.ErrorInfo()
    assert sum(detail.Unpack(info) for detail in details) == 1, details
    assert (info.domain, info.reason) == ("toolgate.dev", "DEFINITION_CHANGED"), info
    assert info.metadata["reviewed_hash"] == stale_hash, info
    assert info.metadata["current_hash"] == tool.definition_hash, info
    assert client.get_tool(tool.id) == tool, "a refused approval changed the tool"
    print(f"stale fingerprint: ABORTED, {info.reason}, current {info.metadata['current_hash']}")


def follow_until(stream, copy, done):
    """Applies the changes of a watch to a copy of the catalogue until it is as wanted at a revision."""
    for message in stream:
        for change in message.changes:
            if change.kind == change_pb2.TOOL_CHANGE_KIND_UPSERTED:
                copy[change.tool_id] = change.tool
            else:
                copy.pop(change.tool_id, None)
        if message.revision and done(copy):
            return
    raise AssertionError("the watch ended")


def main():
    address, key, name, stale_hash = sys.argv[1:]
    with grpc.insecure_channel(address) as channel:
        check_health(channel)
        check_reflection(channel)
        client = Client(channel, key)
        tools = client.list_tools(page_size=2)
        assert len({tool.id for tool in tools}) == len(tools) > 2
        print(f"listed {len(tools)} tools in pages of 2")

        (tool,) = [tool for tool in tools if tool.namespaced_name == name]
        assert tool.state == tool_pb2.TOOL_STATE_UNAPPROVED
        check_stale_approval(client, tool, stale_hash)

        stream, copy = client.watch(), {}
        follow_until(stream, copy, lambda copy: len(copy) == len(tools))
        assert list(copy.values()) == tools, "the watch does not begin with the list"
        print(f"the watch began with {len(copy)} tools")
        approved = client.approve(tool, tool.definition_hash).tool
        assert approved.state == tool_pb2.TOOL_STATE_SERVED
        follow_until(stream, copy, lambda copy: copy[tool.id].state == tool_pb2.TOOL_STATE_SERVED)
        assert copy[tool.id] == approved == client.get_tool(tool.id)
        stream.cancel()
        print(f"approved {name}, and the watch saw it become served")


main()
