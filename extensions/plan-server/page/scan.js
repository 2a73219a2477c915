// A reader of plans that are being typed, which may not be JSON yet.

export const isJson = (text) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
// Returns the start of the word that ends at a place. A regular expression with `$` would try each character of the text as a start.
export const startOf = (sign, text, end) => {
  let start = end;
  while (start > 0 && sign.test(text[start - 1])) start -= 1;
  return start;
};
const TOKEN = /"(?:[^"\\\n]|\\.)*"?|[{}[\],:]/g;
const unquoted = (token) => {
  try {
    return JSON.parse(token);
  } catch {
    return token.slice(1).replace(/"$/, "");
  }
};
const dialectOf = (text) => (/"(?:requestId|params|dependsOn)"\s*:/.test(text) ? "blueprint" : /^\s*\{(?!\s*"plan")/.test(text) ? "tool plan" : "action plan");
// Returns the place at the caret: the part of the text that a choice replaces, and the objects and lists around the part.
const placeOf = (stack, start, end, typed, rest) => ({ start, end, typed, frames: stack.map((frame) => ({ ...frame })), top: { ...stack.at(-1) }, step: stack.find(({ step }) => step)?.step ?? null, ...rest });
const isKeyOf = (top) => Boolean(top && !top.isList && top.key === null);

// Returns the steps of a text with their names and tools, the end of the list of steps, and the place at the caret. A place outside of a string
// is a place only after a sign that a name or a value follows.
export const scan = (text, caret = -1) => {
  const stack = [];
  const steps = [];
  const found = { steps, inputs: [], end: -1, at: null, dialect: dialectOf(text) };
  const word = caret < 0 ? "" : text.slice(startOf(/[\w.-]/, text, caret), caret);
  const isPlace = caret >= 0 && /(?:^|[{[,:])\s*$/.test(text.slice(0, caret - word.length));
  const bare = (index) => {
    if (!found.at && isPlace && index >= caret && stack.length) found.at = placeOf(stack, caret - word.length, caret, word, { isBare: true, isKey: isKeyOf(stack.at(-1)) });
  };
  let last = null;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
    let [token] = match;
    const { index } = match;
    bare(index);
    const top = stack.at(-1);
    if (token[0] === '"') {
      const isKey = isKeyOf(top);
      let isOpen = token.length < 2 || !token.endsWith('"');
      if (index < caret && caret < index + token.length + (isOpen ? 1 : 0)) {
        // After the end of a string, JSON has one of these signs. Before anything else, the string at the caret has no end yet.
        isOpen ||= !/^\s*(?:[,:}\]]|$)/.test(text.slice(TOKEN.lastIndex, TOKEN.lastIndex + 200));
        if (isOpen) TOKEN.lastIndex = caret;
        token = text.slice(index, TOKEN.lastIndex);
        found.at = placeOf(stack, index + 1, isOpen ? caret : index + token.length - 1, text.slice(index + 1, caret), { isOpen, isKey, word: unquoted(token) });
      }
      last = unquoted(token);
      if (isKey) top.names.push(last);
      else if (top && !top.isList) {
        top.values[top.key] = last;
        if (top.step && (top.key === "id" || top.key === "tool")) top.step[top.key] = last;
        if (top.key === "name" && stack.at(-2)?.key === "tool") (stack.at(-2).step ?? {}).tool = stack.at(-2).values.tool = last;
        if (top.key === "name" && stack.length === 3 && stack[0].key === "inputs") found.inputs.push(last);
      }
    } else if (token === ":" && top && !top.isList) top.key = last;
    else if (token === "," && top) top.key = null;
    else if (token === "{" || token === "[") {
      const isSteps = token === "[" && (stack.length === 0 || (stack.length === 1 && ["steps", "plan"].includes(top.key)));
      if (isSteps && top?.key === "plan") found.dialect = "action plan";
      const step = token === "{" && top?.isSteps ? { start: index, id: null, tool: null, number: steps.length } : null;
      if (step) steps.push(step);
      // The name of a tool is in an object only in plan JSON, and no other plan with `steps` has `inputs`.
      if (token === "{" ? top?.step && top.key === "tool" : stack.length === 1 && top.key === "inputs" && found.dialect === "tool plan" && !/"plan"\s*:\s*\[/.test(text)) found.dialect = "plan JSON";
      stack.push({ isList: token === "[", isSteps, key: null, step, names: [], values: {} });
    } else if (token === "}" || token === "]") {
      const closed = stack.pop();
      if (closed?.isSteps) found.end = index;
      if (closed?.step) closed.step.end = index;
    }
  }
  bare(text.length);
  return found;
};

// A step in the notation of each dialect, and a plan with this step. `stepOf` and the skeletons share the notation.
const STEPS = {
  "action plan": (id, tool, given) => ({ id, tool, arguments: given }),
  "tool plan": (id, tool, given) => ({ id, tool, arguments: given }),
  "blueprint": (_, tool, given) => ({ tool, params: given }),
  "plan JSON": (id, tool, given) => ({ id, tool: { name: tool }, arguments: { object: given } }),
};
const oneLine = (value) => JSON.stringify(value, null, 1).replaceAll(/([{[]?)\n *([}\]]?)/g, (_, open, close) => open + (open || close ? "" : " ") + close);
const inPlan = {
  "action plan": (step) => `[\n  ${step}\n]\n`,
  "tool plan": (step) => `{\n  "steps": [\n    ${step}\n  ]\n}\n`,
  "blueprint": (step) => `{\n  "requestId": "plan",\n  "steps": [\n    ${step}\n  ]\n}\n`,
  "plan JSON": (step) => `{\n  "name": "plan",\n  "steps": [\n    ${step}\n  ]\n}\n`,
};
export const skeletons = () => Object.entries(inPlan).map(([dialect, plan]) => [dialect, plan(oneLine(STEPS[dialect]("first", "", {})))]);

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
  return oneLine(STEPS[dialect](id, tool.name, given));
};
