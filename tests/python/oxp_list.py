"""OXP's own client, which refuses what does not fit its types.

    oxp_list.py URL KEY

Checks the health of the server, is refused with a wrong key, and prints what it lists with KEY as one JSON array. Any
surprise is an exception, so the exit code is not 0.
"""

import json
import sys

import oxp


def client(url, key):
    return oxp.Oxp(base_url=url, bearer_token=key, max_retries=0, _strict_response_validation=True)


def main():
    url, key = sys.argv[1:]
    client(url, key).health.check()
    try:
        client(url, "tg_wrong").tools.list()
        raise RuntimeError("a wrong key is accepted")
    except oxp.AuthenticationError:
        pass
    answer = client(url, key).tools.list()
    assert answer.schema_ == "urn:oxp:1.0", answer.schema_
    assert not answer.model_extra, answer.model_extra
    for item in answer.items:
        assert not item.model_extra, item.model_extra
    print(json.dumps([item.model_dump(exclude_unset=True) for item in answer.items]))


main()
