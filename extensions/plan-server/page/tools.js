// The tools of the server, with their arguments and types.

import { $, bdi, h, hide, list, prose, say } from "./dom.js";
import { insert, text } from "./editor.js";
import { scan, stepOf } from "./scan.js";
import { api, noticed } from "./server.js";

export const tools = { all: null };

// The type of a JSON Schema in words.
export const typeOf = (schema, root = schema, depth = 0) => {
  if (!schema || typeof schema !== "object" || depth > 6) return "any JSON";
  const target = typeof schema.$ref === "string" ? root.$defs?.[schema.$ref.split("/").pop()] : null;
  if (target) return typeOf(target, root, depth + 1);
  const choices = list(schema.anyOf ?? schema.oneOf).map((one) => typeOf(one, root, depth + 1));
  if (choices.length) return [...new Set(choices)].join(" or ");
  if (Array.isArray(schema.enum)) return schema.enum.slice(0, 8).map((value) => JSON.stringify(value)).join(" or ");
  const one = (type) => ({ string: "text", integer: "whole number", number: "number", boolean: "yes or no", null: "null",
    array: `list of ${typeOf(schema.items, root, depth + 1)}`, object: schema.properties ? `{ ${Object.keys(schema.properties).join(", ")} }` : "object" })[type] ?? "any JSON";
  return [schema.type ?? "any"].flat().map(one).join(" or ");
};
// The schemas that a schema stands for: the target of a reference, and all choices.
export const meant = (schema, root, depth = 0) => {
  if (!schema || typeof schema !== "object" || depth > 6) return [];
  const target = typeof schema.$ref === "string" ? root.$defs?.[schema.$ref.split("/").pop()] : null;
  const choices = target ? [target] : list(schema.anyOf ?? schema.oneOf);
  return choices.length ? choices.flatMap((one) => meant(one, root, depth + 1)) : [schema];
};
// The output and the places inside the output, such as `["0", "from"]`, with their schemas.
export const places = (schema, root = schema, path = []) => [[path, schema], ...(path.length > 3 ? [] : meant(schema, root).flatMap((one) => [
  ...(one.items ? places(one.items, root, [...path, "0"]) : []), ...Object.entries(one.properties ?? {}).flatMap(([name, inner]) => places(inner, root, [...path, name])),
]))];

// Writes a step at the end of the plan, or a plan with one step.
export const add = (tool) => {
  const { steps, end, dialect } = scan(text.value);
  const before = text.value.slice(0, Math.max(end, 0)).trimEnd();
  // The indentation of the last step, or two spaces more than that of the list.
  const at = text.value.lastIndexOf("\n", (steps.at(-1)?.start ?? before.length) - 1) + 1;
  const indentation = end < 0 ? "  " : /^[ \t]*/.exec(text.value.slice(at))[0] + (steps.length ? "" : "  ");
  const step = stepOf(tool, dialect, steps).replace(/ (?="(?:arguments|params)")/, `\n${indentation} `);
  if (!text.value.trim()) insert(0, text.value.length, `[\n  ${step}\n]\n`);
  else if (end < 0) insert(text.selectionStart, text.selectionEnd, step);
  else insert(before.length, end, `${steps.length ? "," : ""}\n${indentation}${step}\n${indentation.slice(2)}`);
  // The first argument that somebody has to fill in, or the empty object of the arguments.
  const from = text.value.lastIndexOf(step);
  const given = step.search(/"(arguments|params)"/);
  const first = /: (""|\[\]|\{\}|0|false|null)/.exec(step.slice(given));
  if (from >= 0 && first) {
    const [at, isOpen] = [from + given + first.index + 2, /^["[{]/.test(first[1])];
    text.setSelectionRange(isOpen ? at + 1 : at, isOpen ? at + 1 : at + first[1].length);
  }
};

const row = (tool) => {
  const required = new Set(list(tool.parameters?.required));
  const given = Object.entries(tool.parameters?.properties ?? {});
  return h("details", { class: "tool" }, h("summary", {}, h("code", {}, tool.name), h("span", { class: `kind ${tool.read_only ? "reads" : "acts"}` }, tool.read_only ? "only reads" : "may change something")),
    tool.description ? h("p", {}, prose(tool.description)) : "",
    given.length ? h("dl", {}, given.flatMap(([name, schema]) => [h("dt", {}, h("code", {}, name), required.has(name) ? h("span", { class: "must" }, " *") : ""),
      h("dd", {}, bdi(typeOf(schema, tool.parameters), 200), schema?.description ? [". ", prose(schema.description)] : "")])) : h("p", { class: "hint" }, "The tool takes no arguments."),
    h("p", { class: "hint" }, "Output: ", bdi(typeOf(tool.output), 400)),
    h("button", { type: "button", onclick: () => add(tool) }, "Add a step"));
};
const showTools = () => {
  const wanted = $("tools-search").value.trim().toLowerCase();
  const some = list(tools.all).filter((tool) => `${tool.name} ${tool.description}`.toLowerCase().includes(wanted));
  $("tools").replaceChildren(...some.map(row));
  say($("tools-count"), wanted && !some.length ? "No tool matches the search." : "");
};
$("tools-search").addEventListener("input", showTools);
export const loadTools = async () => {
  if (tools.all) return;
  try {
    tools.all = list(await api("/api/tools")).filter((tool) => typeof tool?.name === "string");
    hide($("tools-card"), !tools.all.length);
    showTools();
  } catch (error) {
    noticed(error);
  }
};
