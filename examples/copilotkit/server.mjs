/**
 * A CopilotKit runtime with iac-code as its agent. usage: npm install && AGUI_URL=http://127.0.0.1:8000/ npm start
 * Then point <CopilotKit runtimeUrl="http://127.0.0.1:4000/copilotkit" agent="iac"> at it.
 */
import http from "node:http";
import { HttpAgent } from "@ag-ui/client";
import { copilotRuntimeNodeHttpEndpoint, CopilotRuntime, ExperimentalEmptyAdapter } from "@copilotkit/runtime";

const url = process.env.AGUI_URL ?? "http://127.0.0.1:8000/";
const token = process.env.IAC_CODE_AGUI_AUTH_TOKEN;
const headers = token ? { authorization: `Bearer ${token}` } : {};
const runtime = new CopilotRuntime({ agents: { iac: new HttpAgent({ url, headers }) } });
const endpoint = copilotRuntimeNodeHttpEndpoint({
  endpoint: "/copilotkit",
  runtime,
  serviceAdapter: new ExperimentalEmptyAdapter(),
});
http.createServer((request, response) => endpoint(request, response)).listen(Number(process.env.PORT ?? 4000), "127.0.0.1");
