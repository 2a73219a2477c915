// Uses the server as GraphQL clients do: it asks for the schema, checks its queries against that, and executes plans.

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { spawn } from "node:child_process";
import { buildClientSchema, buildSchema, findBreakingChanges, getIntrospectionQuery, parse, printSchema, validate } from "graphql";
import { ClientError, GraphQLClient, gql } from "graphql-request";

const data = fs.mkdtempSync(path.join(os.tmpdir(), "plan-server-"));
const server = spawn(process.argv[2], ["--address", "127.0.0.1:0", "--data", data], { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, RUST_LOG: "warn" } });
let failed = 0;
try {
  const [, url, token] = await new Promise((resolve, reject) => {
    let said = "";
    server.stdout.on("data", (part) => {
      said += part;
      const found = /(http:\/\/[^/\s]+)\/#token=(\S+)/.exec(said);
      if (found) resolve(found);
    });
    server.on("exit", (code) => reject(new Error(`the server ends with ${code}`)));
  });
  const headers = { authorization: `Bearer ${token}` };
  const client = new GraphQLClient(`${url}/graphql`, { headers });
  const effects = () => fs.readFileSync(path.join(data, "effects.jsonl"), "utf8").split("\n").filter(Boolean).length;
  const refused = async (query, variables, test) => {
    const error = await client.request(query, variables).then(() => null, (error) => error);
    assert.ok(error instanceof ClientError, "it was not refused");
    test(error.response.errors[0]);
  };

  // The schema, as each client asks for it, is that of the file.
  const schema = buildClientSchema(await client.request(getIntrospectionQuery({ descriptions: true, inputValueDeprecation: true })));
  const sdl = await (await fetch(`${url}/graphql/schema`, { headers })).text();
  const changes = findBreakingChanges(schema, buildSchema(sdl)).filter(({ description }) => !/^Standard scalar/.test(description));
  assert.deepEqual(changes, []);
  const names = (type) => Object.keys(schema.getType(type).getFields());
  assert.deepEqual(names("PlanStep"), ["tool", "params", "dependsOn", "parallel", "optional", "retryCount", "timeout"]);
  assert.deepEqual(names("ToolResult"), ["success", "tool", "data", "error", "metadata", "stepIndex", "resolvedParams"]);
  assert.match(printSchema(schema), /scalar JSON/);

  const execute = gql`
    mutation Execute($plan: PlanInput!, $strict: Boolean = true) {
      executePlan(plan: $plan, strict: $strict) {
        requestId
        state
        results { success tool data error { code message } metadata { executionTime timestamp } stepIndex resolvedParams }
        metadata { totalDurationMs successfulSteps failedSteps timestamp }
      }
    }`;
  const look = gql`
    query Look($id: String!) {
      plan(requestId: $id) { requestId strict state steps { tool params dependsOn parallel optional retryCount timeout } }
      results(requestId: $id) { results { success stepIndex data } metadata { successfulSteps } }
    }`;
  const check = gql`query Check($plan: PlanInput!, $strict: Boolean!) { check(plan: $plan, strict: $strict) { severity code message help stepIndex } }`;
  const cancel = gql`mutation Cancel($id: String!) { cancelPlan(requestId: $id) }`;
  for (const query of [execute, look, check, cancel]) assert.deepEqual(validate(schema, parse(query)), []);

  // The plan of the blueprint.
  const steps = [
    { tool: "facilities_list", params: { location: "Stuttgart" }, dependsOn: [], parallel: false },
    { tool: "shipments_list", params: { facility_id: "${step[0].data[0].id}" }, dependsOn: [0], parallel: false },
  ];
  for (const strict of [true, false]) {
    const { executePlan } = await client.request(execute, { plan: { requestId: `blueprint-${strict}`, steps }, strict });
    assert.equal(executePlan.results.length, 2);
    assert.ok(executePlan.results.every((result) => result.success && result.error === null));
    assert.deepEqual(executePlan.results[1].resolvedParams, { facility_id: "F1" });
    const { plan, results } = await client.request(look, { id: `blueprint-${strict}` });
    assert.deepEqual([plan.strict, plan.state, plan.steps.map((step) => step.params)], [strict, "done", steps.map((step) => step.params)]);
    assert.deepEqual(results.results.map((result) => result.data), executePlan.results.map((result) => result.data));
  }

  // A request has its effect once.
  const mail = (subject) => ({ requestId: "mail", steps: [{ tool: "email_send", params: { to: "ada@example.org", subject } }] });
  const first = await client.request(execute, { plan: mail("once") });
  assert.deepEqual(await client.request(execute, { plan: mail("once") }), first);
  await refused(execute, { plan: mail("twice") }, (error) => assert.equal(error.extensions.code, "OTHER_RUN"));
  assert.equal(effects(), 1);
  assert.deepEqual(await client.request(cancel, { id: "mail" }), { cancelPlan: false });

  // What is wrong is said before anything runs.
  const wrong = { steps: [{ tool: "email_send", params: { to: "${step[1].data}", subject: 5 } }] };
  await refused(execute, { plan: wrong }, (error) => {
    assert.equal(error.extensions.code, "FAULTY_PLAN");
    assert.ok(error.extensions.findings.length >= 2);
    assert.ok(error.extensions.findings.every((finding) => finding.message && finding.stepIndex === 0));
  });
  const { check: findings } = await client.request(check, { plan: wrong, strict: true });
  assert.ok(findings.some((finding) => finding.code === "wrong-type"));
  await refused(execute, { plan: { steps: [{ tool: 5, params: {} }] } }, (error) => assert.match(error.message, /tool|String/));
  await refused(execute, {}, (error) => assert.match(error.message, /plan/));
  await refused(look, { id: "nobody" }, (error) => assert.equal(error.extensions.code, "NO_SUCH_RUN"));

  // Queries that ask for too much.
  await refused(`{ ${Array.from({ length: 2000 }, (_, at) => `a${at}: results(requestId: "mail") { state }`).join(" ")} }`, {}, (error) => assert.equal(error.extensions.code, "TOO_COMPLEX"));
  const deep = (depth) => (depth ? `type { ofType { ${deep(depth - 1)} } }` : "name");
  await refused(`{ __schema { types { fields { ${deep(30).replaceAll("type {", "type { ofType {").replaceAll("} }", "} } }")} } } } }`, {}, (error) => assert.ok(error.message));
  const typenames = Array.from({ length: 2000 }, (_, at) => `a${at}: __typename`).join(" ");
  await refused(`{ ${typenames} }`, {}, (error) => assert.equal(error.extensions.code, "TOO_COMPLEX"));
  // Fragments that double what they contain.
  const doubled = Array.from({ length: 40 }, (_, at) => `fragment f${at} on ToolResult { ...f${at + 1} ... on ToolResult { ...f${at + 1} } }`).join(" ");
  const began = Date.now();
  await refused(`{ results(requestId: "mail") { results { ...f0 } } } ${doubled} fragment f40 on ToolResult { tool }`, {}, (error) => assert.ok(error.message));
  assert.ok(Date.now() - began < 10_000, "fragments take too long");
  await refused("{ nothing }", {}, (error) => assert.match(error.message, /nothing/));
  for (const [body, status] of [["[]", 400], ["{", 400], ['[{"query": "{ __typename }"}]', 400]]) {
    const answer = await fetch(`${url}/graphql`, { method: "POST", headers, body });
    assert.equal(answer.status, status, body);
    assert.ok((await answer.json()).error.help);
  }
  assert.equal((await fetch(`${url}/graphql`, { method: "POST", body: "{}" })).status, 401);
  console.log("plan-server/tests/graphql: an independent client asks for the schema, and executes, checks and looks at plans");
} catch (error) {
  failed = 1;
  console.log(`FAILED plan-server/tests/graphql: ${error.stack}`);
} finally {
  const over = new Promise((resolve) => server.on("exit", resolve));
  server.kill("SIGTERM");
  await over;
  fs.rmSync(data, { recursive: true, force: true });
}
process.exit(failed);
