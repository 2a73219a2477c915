// A reader of plans that are being typed, which may not be JSON yet.

const TOKEN = /"(?:[^"\\\n]|\\.)*"?|[{}[\],:]/g;
const unquoted = (token) => {
  try {
    return JSON.parse(token);
  } catch {
    return token.slice(1).replace(/"$/, "");
  }
};

// Returns the steps of a text with their names and tools, the end of the list of steps, and the string at the caret with the keys around it.
export const scan = (text, caret = -1) => {
  const stack = [];
  const steps = [];
  const found = { steps, end: -1, at: null, dialect: /"requestId"\s*:/.test(text) ? "blueprint" : "action" };
  let last = null;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const top = stack.at(-1);
    if (token[0] === '"') {
      last = unquoted(token);
      const isKey = Boolean(top && !top.isList && top.key === null);
      const isOpen = token.length < 2 || !token.endsWith('"');
      if (index < caret && caret < index + token.length + (isOpen ? 1 : 0)) {
        found.at = { start: index + 1, end: isOpen ? caret : index + token.length - 1, isOpen, typed: text.slice(index + 1, caret), isKey, keys: stack.map(({ key }) => key), step: stack.find(({ step }) => step)?.step ?? null };
      }
      if (!isKey && top?.step && (top.key === "id" || top.key === "tool")) top.step[top.key] = last;
      if (!isKey && top?.key === "name" && stack.at(-2)?.step && stack.at(-2).key === "tool") stack.at(-2).step.tool = last;
    } else if (token === ":" && top && !top.isList) top.key = last;
    else if (token === "," && top) top.key = null;
    else if (token === "{" || token === "[") {
      const isSteps = token === "[" && (stack.length === 0 || (stack.length === 1 && top.key === "steps"));
      if (isSteps && stack.length) found.dialect = found.dialect === "blueprint" ? "blueprint" : "tool plan";
      const step = token === "{" && top?.isSteps ? { start: index, id: null, tool: null, number: steps.length } : null;
      if (step) steps.push(step);
      if (token === "{" && top?.step && top.key === "tool") found.dialect = "plan JSON";
      stack.push({ isList: token === "[", isSteps, key: null, step });
    } else if (token === "}" || token === "]") {
      const closed = stack.pop();
      if (closed?.isSteps) found.end = index;
      if (closed?.step) closed.step.end = index;
    }
  }
  return found;
};

// A value of the type of a schema, to be replaced by somebody.
const empty = (schema) => ({ string: "", integer: 0, number: 0, boolean: false, array: [], object: {} })[[schema?.type].flat()[0]] ?? null;
// Returns a step that calls a tool, as a plan of this dialect has it.
export const stepOf = (tool, dialect, steps) => {
  const properties = Object.entries(tool.parameters?.properties ?? {});
  const required = new Set(Array.isArray(tool.parameters?.required) ? tool.parameters.required : []);
  const given = Object.fromEntries(properties.filter(([name]) => required.has(name)).map(([name, schema]) => [name, empty(schema)]));
  const taken = new Set(steps.map(({ id }) => id));
  let id = tool.name;
  for (let nth = 2; taken.has(id); nth += 1) id = `${tool.name}_${nth}`;
  if (dialect === "blueprint") return { tool: tool.name, params: given };
  if (dialect === "plan JSON") return { id, tool: { name: tool.name }, arguments: { object: given } };
  return { id, tool: tool.name, arguments: given };
};
