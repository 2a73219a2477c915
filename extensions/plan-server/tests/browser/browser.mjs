// Runs the tests of the page. The arguments are the folder of the page, and the folder for screenshots or an empty string. The third argument names one file of tests.

import { finish } from "./harness.mjs";

const files = process.argv[4] ? [process.argv[4]] : ["runs", "answers", "plans", "editor", "looks", "changes", "many", ...(process.env.PLAN_SERVER ? ["server", "outlives"] : [])];
for (const file of files) await import(`./${file}.mjs`);
if (!process.env.PLAN_SERVER) console.log("plan-server/tests/browser: the server itself is not tested, since `PLAN_SERVER` does not name it");
await finish();
