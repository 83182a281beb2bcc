// What a tool that asks its caller gives along, sealed against changes.

import { randomBytes } from "node:crypto";
import { createRequestStateCodec } from "@modelcontextprotocol/server";

export const requestStates = createRequestStateCodec({ key: randomBytes(32) });
