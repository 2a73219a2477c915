// The proposals at a place of a plan: names of members, tools and arguments, and references to inputs and to outputs of earlier steps.

import { list } from "./dom.js";
import { skeletons } from "./scan.js";
import { meant, places, tools, typeOf } from "./tools.js";

// The members of each object of a plan, with a few words on each, and the value that follows the name.
const GIVEN = ["tool", "The tool that the step calls", '""'];
const VALUES = [["if", "Runs steps on a condition", "[{}]"], ["for", "Runs steps for each element of a list", "{}"], ["block", "Steps inside a step", "{}"], ["loop", "Repeats steps", "{}"],
  ["value", "A value without a call", ""]];
const STEP = [["id", "The name of the step", '""'], ["intent", "The purpose of the step, for people", '""'], ...VALUES, ["await", "The type of a value that the step waits for", '""'],
  ["undo", "The step that this step undoes after a failure", '""'], ["always", "Runs the step at the end of every run", "true"], ["policy", "Attempts, time limits and failures", "{}"]];
const AFTER = [["after", "Steps that end before this step starts", "[]"]];
const OF_BLUEPRINT = [["dependsOn", "Steps that end before this step starts", "[]"], ["retryCount", "The number of further attempts", ""], ["timeout", "Milliseconds for each attempt", ""], ["optional", "A failure does not stop the plan", "true"]];
const NAMED = [["name", "The name of the plan", '""'], ["description", "The purpose of the plan", '""']];
const PLAN = ["steps", "The steps of the plan", "[]"];
const BLOCK = [["inputs", "Values for the steps inside", "{}"], ["steps", "The steps inside", "[]"], ["tail", "The last call, whose output is the output of the block", "{}"], ["value", "The output of the block", ""]];
const MEMBERS = {
  plan: { "action plan": [["plan", "The steps of the plan", "[]"], ...NAMED], "tool plan": [PLAN, ["output_steps", "The steps whose outputs are the output", '[""]'], ...NAMED],
    "blueprint": [["requestId", "The name of the plan", '""'], PLAN, NAMED[1]], "plan JSON": [...NAMED, ["inputs", "The inputs of the plan", "[{}]"], PLAN, ["output", "The output of the plan", "{}"]] },
  policy: [["attempts", "The number of attempts", ""], ["backoff", "The time before the next attempt", '""'], ["timeout", "The time for each attempt", '""'], ["deadline", "The time for all attempts", '""'],
    ["optional", "A failure does not stop the plan", '"whole"'], ["fallback", "The value after a failure", ""], ["catch", "The output contains the failure", "true"], ["concurrency", "The number of elements at a time", ""], ["at_most", "The number of rounds of a loop", ""]],
  if: [["condition", "The steps run if it is true", ""], ["pattern", "A name for a value that is present, such as Some(x)", '""'], ["value", "The value of the pattern", '""'], ["then", "What runs", "{}"]],
  for: [["pattern", "The name of an element", '""'], ["list", "The list", '""'], ["body", "What runs for each element", "{}"]],
  block: BLOCK, loop: [["last", "The name of the output of the last round", '""'], ...BLOCK, ["while", "The condition for a further round", ""]],
  inputs: [["name", "The name of the input", '""'], ["type", "The type of the input", '""'], ["description", "The purpose of the input", '""']],
  output: [["type", "The type of the output", '""'], ["value", "The value of the output", ""]],
  tool: [["name", "The name of the tool", '""']],
  template: [["reference", "An output, an input or an element of a list", "{}"], ["object", "Values by name", "{}"], ["text", "A string with values inside", "[]"]],
  reference: [["step", "An earlier step", '""'], ["input", "An input of the plan", '""'], ["local", "An element of a list", '""'], ["pointer", "The place in the value", '""']],
};
const membersOf = ({ top, frames }, dialect) => {
  const isBlueprint = dialect === "blueprint";
  const isPlanJson = dialect === "plan JSON";
  const call = [isPlanJson ? ["tool", GIVEN[1], '{"name": ""}'] : GIVEN, [isBlueprint ? "params" : "arguments", "The arguments of the tool", isPlanJson ? '{"object": {}}' : "{}"]];
  const keys = frames.slice(0, -1).map(({ key }) => key);
  const key = keys.findLast((one) => one !== null);
  const isElement = keys.at(-1) === null;
  if (frames.length === 1) return MEMBERS.plan[dialect];
  if (top.step || (isElement && key === "steps")) return [...STEP.slice(0, 2), ...call, ...STEP.slice(2), ...(isBlueprint ? OF_BLUEPRINT : AFTER)];
  if (["body", "then", "tail"].includes(key)) return [...call, ...VALUES];
  if (isPlanJson && ["list", "value", "condition", "arguments"].includes(key)) return MEMBERS.template;
  return key === "inputs" && !isElement ? [] : list(MEMBERS[key]);
};

const schemaAt = (schema, root, frames, dialect) => frames.reduce((schemas, { isList, key }) => (dialect === "plan JSON" && key === "object" ? schemas
  : schemas.flatMap((one) => meant(isList ? one.items : one.properties?.[key], root))), meant(schema, root));
const toolOf = (name) => list(tools.all).find((tool) => tool.name === name);
// The empty value of a type, into which somebody types.
const opening = (type) => (/^text/.test(type) ? '""' : /^list/.test(type) ? "[]" : /^(\{|object)/.test(type) ? "{}" : "");

const written = (dialect, name, path) => {
  const isName = (part) => /^[A-Za-z_]\w*$/.test(part);
  const tail = path.map((part) => (isName(part) ? `.${part}` : `[${/^\d+$/.test(part) ? part : JSON.stringify(part)}]`)).join("");
  if (dialect === "blueprint") return `\${${name}.data${tail}}`;
  if (dialect === "tool plan") return `$ref:${name}${tail.replaceAll(/\[(\d+)\]/g, ".$1")}`;
  return dialect === "plan JSON" ? `${name}${tail}` : `{{${name}.result${tail}}}`;
};
const pointer = (path) => path.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
// The outputs of the steps before a place, the elements of the lists around it and the inputs, with their types.
const references = ({ step, frames }, { steps, inputs, dialect }) => {
  const of = (name, source, schema, root) => places(schema, root).map(([path, one]) => ({ name: written(dialect, name, path), about: typeOf(one, root), schema: one, root,
    json: { reference: { ...source, pointer: pointer(path) } } }));
  const all = steps.filter((one) => one.number < (step?.number ?? steps.length) && one.tool && (one.id || dialect === "blueprint"))
    .flatMap((one) => of(dialect === "blueprint" ? `step[${one.number}]` : one.id, { step: one.id }, toolOf(one.tool)?.output, toolOf(one.tool)?.output));
  for (const { values: { pattern, list: of_list, value } } of frames) {
    const local = /^(?:Some\()?(\w+)\)?$/.exec(pattern ?? "")?.[1];
    const from = all.find(({ name }) => name === (of_list ?? value));
    if (!local || !from) continue;
    const schemas = meant(from.schema, from.root).map((one) => (of_list ? one.items : one)).filter((one) => one && one.type !== "null");
    all.unshift(...schemas.flatMap((one) => of(local, { local }, one, from.root)));
  }
  return [...all, ...inputs.map((name) => ({ name, about: "input", json: { reference: { input: name, pointer: "" } } }))];
};
const ALLOWED = "Allowed value";
// Returns 1 if a value of a type fits the argument.
const fits = (type, wanted) => {
  const choices = wanted.split(" or ");
  return Number(choices.includes(type) || wanted === "any JSON" || (type === "whole number" && choices.includes("number")));
};

// The members of an object, or the arguments of a tool.
const keysAt = (at, dialect, tool, inner) => {
  const parent = at.frames.at(-2)?.key;
  const isTemplate = dialect === "plan JSON" && parent !== "object";
  const some = parent === "reference" ? MEMBERS.reference : !inner ? membersOf(at, dialect) : isTemplate ? MEMBERS.template
    : schemaAt(tool?.parameters, tool?.parameters, inner.slice(0, -1), dialect).flatMap((schema) => Object.entries(schema.properties ?? {})).map(([name, one]) => [name, typeOf(one, tool.parameters), opening(typeOf(one, tool.parameters))]);
  return some.map(([name, about, value]) => ({ name, about, value })).filter(({ name }) => !at.top.names.includes(name) || name === at.word);
};
// The values of the members of a step and of a plan.
const valuesAt = ({ frames, step, isBare }, { steps, dialect }) => {
  const keys = frames.map(({ key }) => key);
  const key = keys.findLast((one) => one !== null);
  const before = steps.filter(({ number }) => number < (step?.number ?? steps.length));
  const names = (some) => some.filter(({ id }) => id).map(({ id, tool }) => ({ name: id, about: tool ?? "" }));
  if (key === "tool" || (key === "name" && keys.at(-2) === "tool")) return list(tools.all).map(({ name, description }) => ({ name, about: description }));
  if (key === "output_steps") return names(steps);
  if (key === "dependsOn" || (key === "undo" && dialect === "blueprint")) return isBare ? before.map(({ number, tool }) => ({ name: String(number), about: tool ?? "", isRaw: true })) : [];
  if (key === "undo") return names(before);
  if (key === "after") return names(steps.filter((one) => one !== step));
  return key === "await" || key === "type" ? ["String", "bool", "i64", "f64", "Vec<String>"].map((name) => ({ name, about: "Type" })) : [];
};
// The parts of a reference of plan JSON.
const partsAt = ({ top }, key, all) => {
  const source = ["step", "input", "local"].find((one) => top.values[one]);
  if (key !== "pointer") return all.filter(({ json }) => json.reference[key] && !json.reference.pointer).map(({ json, about }) => ({ name: json.reference[key], about }));
  return all.filter(({ json }) => source && json.reference[source] === top.values[source]).map(({ json, about }) => ({ name: json.reference.pointer, about }));
};

// Returns the proposals at a place, the best first. Each has its text, a few words, and the value that follows a name.
export const proposals = (found) => {
  const { at, dialect } = found;
  if (!at) return [];
  const given = at.frames.findLastIndex(({ key }) => key === "arguments" || key === "params");
  const tool = toolOf(at.frames[given]?.values.tool);
  const inner = given < 0 ? null : at.frames.slice(given + 1);
  if (at.isKey) return keysAt(at, dialect, tool, inner);
  const key = at.frames.findLast((one) => one.key !== null)?.key;
  const isPart = at.frames.at(-2)?.key === "reference";
  if (!isPart && !inner && !["list", "value", "condition"].includes(key)) return valuesAt(at, found);
  const all = references(at, found);
  if (isPart) return partsAt(at, key, all);
  const schemas = inner ? schemaAt(tool?.parameters, tool?.parameters, inner, dialect) : [];
  const wanted = [...new Set(schemas.map((one) => typeOf(one, tool.parameters)))].join(" or ") || "any JSON";
  const rank = ({ about }) => (about === ALLOWED ? 2 : key === "list" && !inner ? Number(/^list/.test(about)) : fits(about, wanted));
  return [...schemas.flatMap((one) => list(one.enum)).filter((one) => typeof one === "string").map((name) => ({ name, about: ALLOWED })),
    ...all.map(({ name, about, json }) => ({ name, about, json: dialect === "plan JSON" ? json : null })),
    ...(dialect === "action plan" && inner ? [{ name: `{{PLACEHOLDER_${key}}}`, about: "A new input" }] : [])].sort((a, b) => rank(b) - rank(a));
};
// The proposals for an empty text.
export const beginnings = () => skeletons().map(([name, text]) => ({ name, about: "A plan with one step", text }));
