"""Cases in `orders.rs`: what fits is offered first, and names that patterns bind again."""

SLOT = "Speed::Booked(slot) if slot.is_empty() => greeting.clone(),"
BOOKED = "step booked: bool = matches!(&order.speed, Speed::Booked(slot) if !slot.is_empty()) && slot.is_empty();"

# The last function of the fixture.
RUNS = "/// Runs the plan.\n"
BINDS = "    let plan = Deliver {"
COMPLETIONS = [
    ("an empty plan", RUNS, "plan! {▮}\n" + RUNS, {"has": "step pub", "variable": ""}),
    ("an empty plan, half a word", RUNS, "plan! { st▮ }\n" + RUNS, {"has": "step pub"}),
    ("an empty plan as an expression", BINDS, "let again = plan! {▮};\n" + BINDS, {"has": "step"}),
    ("an empty plan as an expression, half a word", BINDS, "let again = plan! { st▮ };\n" + BINDS, {"has": "step"}),
    ("an empty plan as a statement", BINDS, "plan! {▮}\n" + BINDS, {"has": "step"}),
]

# What is offered first, best first, as plain Rust has it.
RANKED = [
    ("a field", "Send { speed: order.speed,", "Send { speed: order.▮,", "speed"),
    ("a field, in the last argument", "text: greeting, copies: 2", "text: greeting, copies: order.▮", "amount"),
    ("fields of one type", "text: greeting, copies: 2", "text: order.▮, copies: 2", "item post_code"),
    ("fields at the tail", "        last\n", "        order.▮\n", "item post_code"),
    ("variants of an enum", "Send { speed: order.speed,", "Send { speed: ▮,", "Speed::Slow Speed::Fast Speed::Booked Speed"),
    ("variants of an enum, by its path", "Send { speed: order.speed,", "Send { speed: Speed::▮,", "Slow Fast Booked"),
    ("steps and inputs", "text: greeting, copies: 2", "text: ▮, copies: 2", "label greeting slot"),
    ("the only input that fits", "FindOrder { id: number }", "FindOrder { id: ▮ }", "number"),
    ("the variable of a `for`", "Log { line: line }", "Log { line: ▮ }", "line sent label greeting slot"),
    ("steps and inputs at the tail", "        last\n", "        ▮\n", "last sent label greeting slot"),
]

DEFINITIONS = [
    ("what an arm binds", "Speed::Booked(sl▮ot) if slot.is_empty() =>", ["Speed::Booked([slot]) if slot.is_empty() => greeting.clone(),"]),
    ("what an arm binds, in its guard", "if sl▮ot.is_empty() =>", ["Speed::Booked([slot]) if slot.is_empty() => greeting.clone(),"]),
    ("what an arm binds, in its value", "=> sl▮ot.clone()", ["Speed::Booked([slot]) => slot.clone(),"]),
    ("an input, in an arm that does not bind it", "_ => sl▮ot.to_upper", ["[slot]: String,"]),
    ("what `matches!` binds", "Speed::Booked(sl▮ot) if !slot", [BOOKED.replace("(slot)", "([slot])")]),
    ("what `matches!` binds, in its guard", "if !sl▮ot.is_empty())", [BOOKED.replace("(slot)", "([slot])")]),
    ("an input after `matches!`", "&& sl▮ot.is_empty();", ["[slot]: String,"]),
    ("a closure's parameter with a step's name", "|label| lab▮el.is_empty()", ["step count: usize = order.lines.iter().filter(|[label]| label.is_empty()).count() + label.len();"]),
    ("a step after such a closure", "count() + lab▮el.len()", ["step [label]: String = match &order.speed {"]),
    ("what `if let` binds", "{ line: gi▮ft }", ["step last = if let Some([gift]) = &order.gift {"]),
    ("a tool's function", "pub async fn find_▮order", ["pub async fn [find_order](shop: &Shop, id: u64) -> Result<Order> {"]),
    ("a parameter, in the function", ".map(|copies| te▮xt", ["[text]: String,"]),
    ("the run of a plan", "plan.ru▮n(shop)", ["pub []Deliver(", "[plan!] {"]),
    ("the plan's name", "let plan = Del▮iver", ["pub [Deliver]("]),
    ("a tool that is a struct", "Lo▮g { line: line }", ["pub struct [Log] {"]),
]

HOVERS = [
    ("what an arm binds", "Speed::Booked(sl▮ot) if slot.is_empty() =>", ["let slot: &String"]),
    ("an input", "_ => sl▮ot.to_upper", ["let slot: String"]),
    ("a step", "text: lab▮el,", ["let label: String", "plan_editor::orders::Deliver", "What is written on it."]),
    ("the run of a plan", "plan.ru▮n(shop)", ["pub fn run", "plan_runtime::Run<'_, A, String>"]),
    ("the block of a branch", "if booked && count > 3 ▮{", []),
    ("the block of an `else`", "} else ▮{\n            Send", []),
    ("the block of a `for`", "for line in order.lines ▮{", []),
    ("`plan!`", "pl▮an! {", ["proc_macro plan", "step found = Search {"]),
    ("`#[tool]`", "#[to▮ol]\npub async fn find_order", ["proc_macro tool", "pub async fn search("]),
    ("`Shape`", "derive(Clone, Serialize, Deserialize, Sha▮pe)]\npub enum", ["proc_macro Shape", "found[0].from"]),
    ("a tool's function", "pub async fn find_▮order", ["pub async fn find_order", "pub struct FindOrder"]),
]
# The inlay hints of the file.
HINTS = [": String", ": String", ": String", ": String", ": u32", "plan!", ": Deliver", "app:"]

# The signatures that are shown as arguments are typed.
SIGNATURES = [
    ("an argument", "text: ▮greeting, copies: 2", ["struct Send { speed: Speed, text: String, copies: u32 }"]),
    ("a variant's value", "Speed::Booked(▮slot), text", ["enum Speed::Booked(String)"]),
]

REFERENCES = [
    ("an input that arms bind again", "sl▮ot: String,",
     ["[slot]: String,", "_ => [slot].to_uppercase(),", BOOKED.replace("&& slot", "&& [slot]"), "Send { speed: Speed::Booked([slot]),", "[slot]: \"10:00\""]),
    ("what an arm binds", "=> sl▮ot.clone()", ["Speed::Booked([slot]) => slot.clone(),", "Speed::Booked(slot) => [slot].clone(),"]),
    ("a step whose name a closure binds", "step lab▮el",
     ["step [label]: String", "step count: usize = order.lines.iter().filter(|label| label.is_empty()).count() + [label].len();", "#[after([label])]", "Send { speed: Speed::Booked(slot), text: [label],"]),
    ("an argument, with the body of the function", "te▮xt: greeting",
     ["[text]: String,", "Speed::Booked(hour) => hour + &[text],", ".map(|copies| [text].repeat(", "Send { speed: Speed::Booked(slot), [text]: label", "Send { speed: order.speed, [text]: greeting"]),
    ("an argument, from the body of the function", "hour + &te▮xt",
     ["[text]: String,", "Speed::Booked(hour) => hour + &[text],", ".map(|copies| [text].repeat(", "Send { speed: Speed::Booked(slot), [text]: label", "Send { speed: order.speed, [text]: greeting"]),
]
RENAMES = REFERENCES

DIAGNOSTICS = [
    ("an empty plan", RUNS, "plan! {}\n" + RUNS, [("plan!", "a plan needs at least one step")]),
    ("half a word", RUNS, "plan! { st }\n" + RUNS, [("st", "no step or input is named `st`")]),
    ("half a word as an expression", BINDS, "let again = plan! { st };\n" + BINDS, [("st", "no step or input is named `st`")]),
    ("a number for a text", "text: greeting, copies: 2", "text: 5, copies: 2", [("5", "expected String, found i32")]),
    ("a text for a number", "text: greeting, copies: 2", 'text: greeting, copies: "2"', [('"2"', "expected u32, found &")]),
    ("a `Some` where nothing is optional", "text: greeting, copies: 2", "text: greeting, copies: Some(2)", [("Some(2)", "expected u32, found Option<i32>")]),
    ("a `bool` for a number", "text: greeting, copies: 2", "text: greeting, copies: true", [(": true", "expected u32, found bool")]),
    ("a text for a text", "text: greeting, copies: 2", 'text: "Hello", copies: 2', []),
    ("branches of different types", "Log { line: lines[0] }", "FindOrder { id: 3 }", [("{\n            FindOrder { id: 3 }\n        }", "expected String, found Order")]),
]
