/**
 * The client checks events with zod, which would compile its checks with `new Function`. The page's policy forbids that, so
 * zod is told before the first schema is made; import this before @ag-ui/client.
 */
import { config } from "zod-of-client";

config({ jitless: true });
