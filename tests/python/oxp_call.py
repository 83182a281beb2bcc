"""Calls of OXP's own client, which refuses answers that do not fit its types.

    oxp_call.py URL KEY REQUESTS

Makes each call of the JSON array REQUESTS and prints, as one JSON array, the result of each, or the status and the body of its
refusal.
"""

import json
import sys

import oxp


def outcome(client, request):
    try:
        answer = client.tools.call(request=request, schema="urn:oxp:1.0")
    except oxp.APIStatusError as refusal:
        return {"status": refusal.status_code, "body": refusal.body}
    assert answer.schema_ == "urn:oxp:1.0", answer.schema_
    return answer.result.model_dump(exclude_unset=True)


def main():
    url, key, requests = sys.argv[1:]
    client = oxp.Oxp(base_url=url, bearer_token=key, max_retries=0, _strict_response_validation=True)
    print(json.dumps([outcome(client, request) for request in json.loads(requests)]))


main()
