"""What must be offered where. `▮` is the cursor; each case is an edit of the fixture, which is correct."""

EMAIL = "thread_id from subject size"
INBOX = "data next_page raw"
# `later` is known everywhere, since a step before it refers to it.
START = "limit reply sender"
TYPES = "Email FetchEmails Filters Inbox Mail Note Person Receipt ReplyEmail ReplyToLatest String Value"
INLINE = 'let again = plan! { step note = Note { text: "again", data: json!(null), .. }; note.id };'
ATTRIBUTES = "after always at_most catch collect concurrency deadline fallback optional retry timeout undo"

# What is tried, the text, what replaces it, and what must be offered: of each kind exactly these labels, `has` among others.
COMPLETIONS = [
    ("fields of a step, before `,`", "thread_id: inbox.data[0].thread_id,", "thread_id: inbox.▮,", {"field": INBOX}),
    ("fields of a step, in the last argument", "copies: inbox.data[0].size,", "copies: inbox.▮", {"field": INBOX}),
    ("fields of a step, before `}`", 'thread_id: mail.thread_id, to: mail.from.email, subject: mail.subject, body: "all", copies: None }',
     "thread_id: inbox.▮ }", {"field": INBOX}),
    ("fields of a step, at the tail", "        end\n", "        sent.▮\n", {"field": "id note"}),
    ("fields of an element, before `,`", "to: inbox.data[0].from.email,", "to: inbox.data[0].▮,", {"field": EMAIL}),
    ("fields of an element, before `}`", "copies: inbox.data[0].size,", "copies: inbox.data[0].▮", {"field": EMAIL}),
    ("fields of an element, at the tail", "        end\n", "        inbox.data[0].▮\n", {"field": EMAIL}),
    ("a half-typed field", "thread_id: inbox.data[0].thread_id,", "thread_id: inbox.data[0].thr▮,", {"field": EMAIL}),
    ("a half-typed field, first level", "thread_id: inbox.data[0].thread_id,", "thread_id: inbox.da▮,", {"field": INBOX}),
    ("a field that is typed, without a comma", "to: inbox.data[0].from.email,", "to: inbox.data[0].from▮", {"field": EMAIL}),
    ("the third level", "to: inbox.data[0].from.email,", "to: inbox.data[0].from.▮,", {"field": "email name"}),
    ("the third level, half typed", "to: inbox.data[0].from.email,", "to: inbox.data[0].from.em▮,", {"field": "email name"}),
    ("methods of a `Vec`", "thread_id: inbox.data[0].thread_id,", "thread_id: inbox.data.▮,", {"has": "first len is_empty"}),
    ("methods of a `String`", "body: reply,", "body: reply.▮,", {"has": "len trim to_uppercase"}),
    ("behind `?`", "by: inbox.next_page?.name", "by: inbox.next_page?.▮", {"field": "email name"}),
    ("behind `.get(0)?`", "by: inbox.next_page?.name", "by: inbox.data.get(0)?.▮", {"field": EMAIL}),
    ("every element", "tags: inbox.data[..].subject", "tags: inbox.data[..].▮", {"field": EMAIL}),
    ("every element, half typed", "tags: inbox.data[..].subject", "tags: inbox.data[..].sub▮", {"field": EMAIL}),
    ("a step that is declared later", "text: later.note", "text: later.▮", {"field": "id note"}),
    ("steps and inputs as an argument", "body: reply,", "body: ▮,", {"variable": "count inbox " + START, "static": "later", "has": TYPES}),
    ("steps and inputs, half typed", "body: reply,", "body: in▮,", {"variable": "count inbox " + START, "static": "later"}),
    ("steps and inputs, half typed, at the end", "copies: inbox.data[0].size,", "copies: co▮", {"variable": "count inbox " + START}),
    ("steps and inputs at the tail", "        end\n", "        ▮\n",
     {"variable": "answers count end inbox last noted sent " + START, "static": "later", "has": "step"}),
    ("steps and inputs at the tail, half typed", "        end\n", "        se▮\n",
     {"variable": "answers count end inbox last noted sent " + START, "static": "later"}),
    ("the keyword `step`, half typed", "        step sent = Rep", "        st▮\n        step sent = Rep", {"has": "step"}),
    ("the keyword `step`, nothing typed", "        step sent = Rep", "        ▮\n        step sent = Rep", {"has": "step"}),
    ("the keyword `step`, behind an attribute", "#[after(last)]\n", "#[after(last)]\n        st▮\n", {"has": "step"}),
    ("the keyword `step`, at the end", "        end\n", "        st▮\n", {"has": "step"}),
    ("tools, nothing typed", "FetchEmails { filters: Filters { sender, since: limit }, limit };", "▮;", {"has": TYPES}),
    ("tools, half typed", "FetchEmails { filters: Filters { sender, since: limit }, limit };", "Fet▮;", {"has": "FetchEmails Note ReplyEmail"}),
    ("tools, half typed, the arguments there", "= FetchEmails {", "= Fet▮ {", {"has": "FetchEmails Note ReplyEmail"}),
    ("types of inputs", "sender: String,\n        reply", "sender: Str▮,\n        reply", {"has": TYPES}),
    ("types of inputs, nothing typed", "sender: String,\n        reply", "sender: ▮,\n        reply", {"has": TYPES}),
    ("types of inputs, inside another", "sender: String,\n        reply", "sender: Vec<Str▮>,\n        reply", {"has": TYPES}),
    ("types of inputs, inside another that is open", "limit: u64,\n    ) ->", "limit: Option<▮) ->", {"has": TYPES}),
    ("the type of the output, inside another that is open", ") -> Receipt {\n        /// Find", ") -> Vec<▮ {\n        /// Find", {"has": TYPES}),
    ("the type of the output", ") -> Receipt {\n        /// Find", ") -> Rec▮ {\n        /// Find", {"has": TYPES}),
    ("the type of the output, nothing typed", ") -> Receipt {\n        /// Find", ") -> ▮ {\n        /// Find", {"has": TYPES}),
    ("the type of a computed step", "step end: Receipt =", "step end: Rec▮ =", {"has": TYPES}),
    ("argument names, half typed, the value there", "body: reply,", "bo▮: reply,", {"field": "body"}),
    ("argument names, half typed", "body: reply,", "bo▮,", {"field": "body"}),
    ("argument names, half typed, without a comma", "copies: inbox.data[0].size,", "co▮", {"field": "copies"}),
    ("argument names, nothing typed", "body: reply,\n", "▮\n", {"field": "body"}),
    ("argument names, nothing typed, the value there", "body: reply,", "▮: reply,", {"field": "body"}),
    ("argument names, nothing typed, the value there, alone", "FetchEmails { filters: Filters { sender, since: limit }, limit };", "FetchEmails { ▮: 3 };", {"field": "filters limit"}),
    ("the first argument, nothing typed", "thread_id: inbox.data[0].thread_id,", "▮", {"field": "thread_id"}),
    ("the first argument, half typed", "thread_id: inbox.data[0].thread_id,", "thr▮,", {"field": "thread_id"}),
    ("the last argument, nothing typed", "copies: inbox.data[0].size,", "▮", {"field": "copies"}),
    ("no argument yet", "FetchEmails { filters: Filters { sender, since: limit }, limit };", "FetchEmails { ▮ };", {"field": "filters limit"}),
    ("fields of a nested literal, nothing typed", "Filters { sender, since: limit }", "Filters { ▮ }", {"field": "sender since"}),
    ("fields of a nested literal, the second", "Filters { sender, since: limit }", "Filters { sender, ▮ }", {"field": "since"}),
    ("fields of a nested literal, half typed", "Filters { sender, since: limit }", "Filters { sender, si▮ }", {"field": "since"}),
    ("a value in a nested literal", "since: limit }", "since: inbox.▮ }", {"field": INBOX}),
    ("the type of a nested literal", "filters: Filters { sender, since: limit }", "filters: Fil▮", {"has": TYPES}),
    ("inside `format!`", '", inbox.data[0].subject)', '", inbox.data[0].▮)', {"field": EMAIL}),
    ("inside `format!`, half typed", '", inbox.data[0].subject)', '", inbox.data[0].sub▮)', {"field": EMAIL}),
    ("inside `format!`, names", '", inbox.data[0].subject)', '", in▮)', {"variable": "count inbox " + START}),
    ("inside `json!`", '"to": inbox.data[0].from.email,', '"to": inbox.data[0].▮,', {"field": EMAIL}),
    ("inside `json!`, before `}`", '{ "last": noted?.id }', '{ "last": sent.▮ }', {"field": "id note"}),
    ("inside `json!`, names", '{ "last": noted?.id }', '{ "last": no▮ }', {"variable": "answers count inbox last noted sent " + START}),
    ("inside a list in `json!`", "[count, null]", "[inbox.▮, null]", {"field": INBOX}),
    ("inside `json!`, an expression", "json!(answers.len())", "json!(answers.▮)", {"has": "len first"}),
    ("inside a list", 'tags: [reply, "x"]', 'tags: [sent.▮, "x"]', {"field": "id note"}),
    ("inside `vec!`", "vec![reply.trim(),", "vec![sent.no▮,", {"field": "id note"}),
    ("inside `vec!`, names", "vec![reply.trim(),", "vec![re▮,", {"variable": "answers count inbox last noted sent " + START}),
    ("inside a closure", "|mail| mail.size > 0", "|mail| mail.▮ > 0", {"field": EMAIL}),
    ("inside a closure, at its end", "|mail| mail.size > 0", "|mail| mail.▮", {"field": EMAIL}),
    ("inside a closure, names", "|mail| mail.size > 0", "|mail| ma▮", {"variable": "count inbox mail sent " + START}),
    ("an `if` condition", "if sent.id > 0 &&", "if sent.▮ > 0 &&", {"field": "id note"}),
    ("an `if` condition, at its end", "if sent.id > 0 && inbox.data.iter().all(|mail| mail.size > 0) {", "if sent.▮ {", {"field": "id note"}),
    ("an `if` condition, compared", "if sent.id > 0 &&", "if 0 < sent.▮ &&", {"field": "id note"}),
    ("an `if` condition, in parentheses", "if sent.id > 0 &&", "if !(count == sent.▮) &&", {"field": "id note"}),
    ("an `if` condition, names", "if sent.id > 0 &&", "if se▮ &&", {"variable": "count inbox sent " + START}),
    ("the body of an `if`", "Note { text: sent.note, data: json", "Note { text: sent.▮, data: json", {"field": "id note"}),
    ("the body of an `if`, argument names", "Note { text: sent.note, data: json", "Note { te▮, data: json", {"field": "by tags text"}),
    ("the list of a `for`", "in inbox.data {", "in inbox.▮ {", {"field": INBOX}),
    ("the body of a `for`", "to: mail.from.email,", "to: mail.▮,", {"field": EMAIL}),
    ("the body of a `for`, names", "to: mail.from.email,", "to: ma▮,", {"variable": "count inbox mail noted sent " + START}),
    ("the body of a `for`, argument names", "to: mail.from.email, subject", "▮, subject", {"field": "to"}),
    ("a computed step", "inbox.data.len() + 1;", "inbox.data.▮ + 1;", {"has": "len first"}),
    ("a computed step, behind an operator", "inbox.data.len() + 1;", "inbox.data.len() + limit.▮;", {"has": "pow checked_add"}),
    ("a computed step, behind a `?`", "inbox.data.len() + 1;", 'inbox.data.first().ok_or("none")?.▮;', {"field": EMAIL}),
    ("a computed step, names", "inbox.data.len() + 1;", "inbox.data.len() + li▮;", {"variable": "inbox " + START}),
    ("names of attributes, half typed", "#[retry(3, backoff", "#[re▮(3, backoff", {"module": ATTRIBUTES}),
    ("names of attributes, nothing typed", "#[concurrency(2)]", "#[▮]", {"module": ATTRIBUTES}),
    ("options of attributes", 'backoff = "200ms"', "▮", {"module": "attempts backoff jitter max"}),
    ("options of attributes, half typed", 'backoff = "200ms"', 'ba▮ = "200ms"', {"module": "attempts backoff jitter max"}),
    ("the option of `#[optional(…)]`", "#[optional(each)]", "#[optional(▮)]", {"module": "each"}),
    ("`#[after(…)]`", "#[after(sent)]", "#[after(▮)]", {"variable": "count inbox sent " + START}),
    ("`#[fallback(…)]`", "#[fallback(sent)]", "#[fallback(inbox.▮)]", {"field": INBOX}),
    ("`#[undo(…)]`", "#[undo(first)]", "#[undo(▮)]", {"variable": "first tries words"}),
    ("`#[retry(…)]`, an input", "#[retry(tries)]", "#[retry(tries.▮)]", {"has": "pow checked_add"}),
    ("an undo step, fields", "by: first.note,", "by: first.▮,", {"field": "id note"}),
    ("an always step, what another gave", "by: second.err()?.message,", "by: second.▮,", {"has": "ok err is_ok"}),
    ("an always step, a failure", "by: second.err()?.message,", "by: second.err()?.▮,", {"field": "attempts code expression message step transient"}),
    ("an always step, names", "by: second.err()?.message,", "by: sec▮,", {"variable": "first second tries unsent words"}),
    ("a step in a block, fields", "text: noted.note, by: name", "text: noted.▮, by: name", {"field": "id note"}),
    ("a step in a block, names", "text: noted.note, by: name", "text: no▮, by: name", {"variable": "name names noted rounds"}),
    ("the value of a block", "again\n        };", "again.▮\n        };", {"field": "id note"}),
    ("argument names in a block", "text: noted.note, by: name, data: json!(6), ..", "▮", {"field": "by data tags text"}),
    ("elements that are blocks", "text: kept[0].note", "text: kept[0].▮", {"field": "id note"}),
    ("the round before", "by: before?.note", "by: before?.▮", {"field": "id note"}),
    ("the condition of a loop", "while attempt.note.is_empty()", "while attempt.▮", {"has": "id note"}),
    ("what a loop gives", "[tried[0].id,", "[tried[0].▮,", {"field": "id note"}),
    ("options of `#[at_most]`", 'every = "3s"', "▮", {"module": "every rounds"}),
    ("the expression form, fields", "; note.id };", "; note.▮ };", {"field": "id note"}),
    ("the expression form, argument names", 'Note { text: "again", data', "Note { ▮, data", {"field": "by tags text"}),
    ("the expression form, from outside", "again.run(mail)", "again.▮", {"method": "plan run clone(as Clone) clone_from(as Clone)"}),
    ("the expression form, from outside, no fields", "again.run(mail)", "again.▮", {"field": ""}),
    ("the plan from outside", "plan.run(mail)", "plan.▮", {"field": START, "has": "run"}),
]

# The same with something wrong elsewhere in the plan: a type, and what cannot be read.
ELSEWHERE = [
    ("a type error", "copies: inbox.data[0].size,", "copies: inbox.data[0].subject,"),
    ("an unknown name", "text: later.note", "text: latr.note"),
    ("a parse error in an argument before", "thread_id: inbox.data[0].thread_id,", "thread_id: inbox.data[0]. ,"),
    ("a parse error behind", "step end: Receipt = Receipt { id: later.id,", "step end: Receipt = Receipt { id: later. ,"),
    ("a parse error in the head", "limit: u64,\n    ) -> Receipt", "limit: ,\n    ) -> Receipt"),
    ("a step without a value before", "inbox.data.len() + 1;", ";"),
    ("no semicolon before", "inbox.data.len() + 1;", "inbox.data.len() + 1"),
    ("an unknown attribute", "#[after(last)]", "#[aftr(last)]"),
    ("half an `if`", "step last = Note", "step last = if sent. Note"),
]
ELSEWHERE_COMPLETIONS = [
    ("to: inbox.data[0].from.email,", "to: inbox.data[0].▮,", {"field": EMAIL}),
    ("to: inbox.data[0].from.email,", "to: sen▮,", {"has": "inbox sender reply"}),
    ("body: reply,", "bo▮: reply,", {"field": "body"}),
]

# Where the definition is, as the line that it is in.
DEFINITIONS = [
    ("a field", "thread_id: inbox.data[0].thr▮ead_id", ["pub [thread_id]: String,"]),
    ("a field of the first level", "to: inbox.da▮ta[0]", ["pub [data]: Vec<Email>,"]),
    ("an argument", "bo▮dy: reply,", ["[body]: String,"]),
    ("a field of a nested literal", "sin▮ce: limit", ["pub [since]: Option<u64>,"]),
    ("a step", "thread_id: inb▮ox.data", ["step [inbox] = FetchEmails { filters: Filters { sender, since: limit }, limit };"]),
    ("a step with a type", "all\": [cou▮nt,", ["step [count]: usize = inbox.data.len() + 1;"]),
    ("a step that is declared later", "text: lat▮er.note",
     ["step [later] = Note { text: vec![reply.trim(), \"x\"].join(\" \"), tags: [reply, \"x\"], by: inbox.next_page?.name, data: json!({ \"last\": noted?.id }) };"]),
    ("a step in an always step", "by: sec▮ond.err()", ["step [second] = Note { text: first.note, data: json!(3), .. };"]),
    ("a step in a block", "text: not▮ed.note", ["step [noted] = Note { text: name, data: json!(5), .. };"]),
    ("a step around a loop", "text: ke▮pt[0]", ["step [kept] = for name in names {"]),
    ("the round before", "by: bef▮ore?", ["step tried = loop |[before]| {"]),
    ("a step in a condition", "while att▮empt.note", ["step [attempt] = Note { text: kept[0].note, by: before?.note, data: json!(7), .. };"]),
    ("an input in a policy", "#[retry(tri▮es)]", ["pub Recall(words: String, [tries]: u32) -> u64 {"]),
    ("a step that is undone", "#[undo(fir▮st)]", ["step [first] = Note { text: words, data: json!(1), .. };"]),
    ("a step in an attribute", "#[after(se▮nt)]", ["step [sent] = ReplyEmail {"]),
    ("an input", "body: rep▮ly,", ["[reply]: String,"]),
    ("an input that is an argument of the same name", "{ send▮er, since", ["pub [sender]: String,", "[sender]: String,"]),
    ("a tool", "step sent = Reply▮Email", ["pub async fn [reply_email]("]),
    ("the variable of a `for`", "to: ma▮il.from", ["step answers = for [mail] in inbox.data {"]),
    ("the plan", "let plan = ReplyTo▮Latest", ["pub [ReplyToLatest]("]),
    ("an input, from outside", 'sen▮der: "sarah"', ["[sender]: String,"]),
    ("the run of the expression form", "again.r▮un(mail)", [INLINE.replace("{ step", "{ []step"), INLINE.replace("plan!", "[plan!]")]),
]

# What a hover says, among other things.
HOVERS = [
    ("a step shows its type and its comment", "thread_id: inb▮ox.data", ["let inbox: Inbox", "plan_editor::ReplyToLatest", "Find the sender's e-mails."]),
    ("a step, where it is declared", "step inb▮ox", ["let inbox: Inbox", "Find the sender's e-mails."]),
    ("a step without a comment", "step se▮nt", ["let sent: Receipt"]),
    ("a step with a type", "all\": [cou▮nt,", ["let count: usize", "How many there are."]),
    ("a step that may be skipped", "{ \"last\": not▮ed?", ["let noted: Option<Receipt>"]),
    ("a step that may fail", "#[after(la▮st)]", ["let last: Option<Receipt>"]),
    ("a loop", "json!(ans▮wers", ["let answers: Vec<Option<Receipt>"]),
    ("a step that is declared later", "text: lat▮er.note", ["static later: <Note as ::plan_runtime::Tool>::Output\n"]),
    ("an input", "body: rep▮ly,", ["let reply: String"]),
    ("an input with a comment", "send▮er: String,\n        reply", ["let sender: String", "Who wrote."]),
    ("a field", "thread_id: inbox.data[0].thr▮ead_id", ["pub thread_id: String"]),
    ("a field with a comment", "to: inbox.data[0].from.ema▮il", ["Where mail reaches the person."]),
    ("a tool", "step sent = Reply▮Email", ["pub struct ReplyEmail", "Replies to an e-mail."]),
    ("an argument", "sub▮ject: format", ["pub subject: String", "What it is about."]),
    ("an argument without a comment", "bo▮dy: reply,", ["pub body: String"]),
    ("an attribute", "#[ret▮ry(3", ["the maximum number of attempts"]),
    ("an option of an attribute", "back▮off =", ["The first wait, which doubles."]),
    ("the variable of a `for`", "to: ma▮il.from", ["mail: Email"]),
    ("the plan", "let plan = ReplyTo▮Latest", ["pub struct ReplyToLatest", "Replies to the most recent e-mail from a sender.", "**Steps**", "FetchEmails"]),
    ("the run of the plan", "plan.r▮un(mail)", ["pub fn run", "on an application that has its tools"]),
    ("the expression form", "let aga▮in = plan!", ["let again: InlinePlan<u64>"]),
    ("the run of the expression form", "again.r▮un(mail)",
     ["plan_editor::InlinePlan", "pub fn run<'a, A>(&self, app: &'a A)", "`Output` = `u64`, `A` = `Mail`", "on an application that has its tools"]),
]
# What no hover and no inlay hint shows.
INTERNAL = ["__", "crate plan_runtime", "::core::future", "check::run", "any()", "extern crate", "::Steps", "Inline<"]

# The inlay hints of the file.
HINTS = ["plan!", ": ReplyToLatest", ": Receipt", "app:", ": InlinePlan<u64>", "app:", "app:"]

# All uses, as the beginnings of their lines.
REFERENCES = [
    ("a field", "thread_id: inbox.data[0].thr▮ead_id",
     ["pub [thread_id]: String,", "thread_id: inbox.data[0].[thread_id],", "ReplyEmail { thread_id: mail.[thread_id],"]),
    ("an argument", "bo▮dy: reply,", ["[body]: String,", "[body]: reply,", "ReplyEmail { thread_id: mail.thread_id, to: mail.from.email, subject: mail.subject, [body]"]),
    ("a step", "step se▮nt", ["step [sent] = ReplyEmail {", "#[after([sent])]", "step noted = if [sent].id", "Note { text: [sent].note,", "#[fallback([sent])]"]),
    ("a step, from a use", "Note { text: se▮nt.note, data: json", ["step [sent] = ReplyEmail {", "#[after([sent])]", "step noted = if [sent].id", "Note { text: [sent].note,", "#[fallback([sent])]"]),
    ("a step with a comment and a type", "step cou▮nt", ["step [count]: usize", "subject: format!(\"Re: {} ({[count]})\"", "Note { text: sent.note, data: json!({ \"to\": inbox.data[0].from.email, \"raw\": inbox.raw[\"a\"], \"all\": [[count]"]),
    ("a step that is used before it is declared", "text: lat▮er.note",
     ["step last = Note { text: [later].note", "step [later] = Note", "step end: Receipt = Receipt { id: [later].id", "step end: Receipt = Receipt { id: later.id, note: [later].note"]),
    ("an input", "lim▮it: u64", ["[limit]: u64,", "step inbox = FetchEmails { filters: Filters { sender, since: [limit] }", "step inbox = FetchEmails { filters: Filters { sender, since: limit }, [limit] }", "[limit]: 3,"]),
    ("an input in attributes, from outside", "rou▮nds: 2,", ["pub Keep(names: Vec<String>, [rounds]: u32)", "#[retry([rounds])]", "#[at_most([rounds], every", "[rounds]: 2,"]),
    ("a tool", "step sent = Reply▮Email", ["pub async fn [reply_email](", "step sent = [ReplyEmail] {", "[ReplyEmail] { thread_id: mail"]),
]

# What a rename writes, from wherever it is asked for.
RENAMES = [(title + ", from here", marked, lines) for title, marked, lines in REFERENCES] + [
    ("a field, from its struct", "pub si▮ze: u64", ["pub [size]: u64", "copies: inbox.data[0].[size],", "step noted = if sent.id > 0 && inbox.data.iter().all(|mail| mail.[size]"]),
    ("an argument, from the tool", "bo▮dy: String", ["[body]: String,", 'todo!("{:p} {thread_id} {to} {subject} {[body]}', "[body]: reply,", "ReplyEmail { thread_id: mail.thread_id, to: mail.from.email, subject: mail.subject, [body]"]),
    ("an input, from outside", 'rep▮ly: "On it', ["[reply]: String,", "body: [reply],", "step later = Note { text: vec![[reply]", "step later = Note { text: vec![reply.trim(), \"x\"].join(\" \"), tags: [[reply]", "[reply]: \"On it"]),
    ("the plan", "let plan = ReplyTo▮Latest", ["pub [ReplyToLatest](", "let plan = [ReplyToLatest] {"]),
]

# What is reported in the editor: the text that it is about, and how it begins. Correct files have nothing to report.
DIAGNOSTICS = [
    ("an argument that the tool has not", "copies: inbox.data[0].size,", "copies: inbox.data[0].size, colour: reply,", [("colour: reply", "no such field")]),
    ("a missing argument", "body: reply,", "", [("ReplyEmail", "missing structure fields:\n- body")]),
    ("a condition that is none", "if sent.id > 0 && inbox.data.iter().all(|mail| mail.size > 0) {", "if sent.id {", [("id", "expected bool, found u64")]),
    ("a `?` in a computed step", "inbox.data.len() + 1;", 'reply.parse::<usize>()? + inbox.data.first().ok_or("none")?.thread_id.len();', []),
    ("a computed step of another type", "inbox.data.len() + 1;", "reply.to_uppercase();", [("to_uppercase", "expected usize, found String")]),
    ("a reference of another type", "to: inbox.data[0].from.email,", "to: inbox.data[0].from,", [("inbox.data[0].from", "expected String, found Person")]),
    ("a reference of another type, into an `Option`", "copies: inbox.data[0].size,", "copies: inbox.data[0].subject,", [("inbox.data[0].subject", "expected Option<u64>, found String")]),
    ("a reference that may be absent", "text: later.note, tags", "text: noted, tags", [(": noted", "expected String, found Option<Receipt>")]),
    ("an input of another type", "body: reply,", "body: limit,", [(": limit", "expected String, found u64")]),
    ("an unknown step", "thread_id: inbox.data[0].thread_id,", "thread_id: inbx.data[0].thread_id,", [("inbx", "no step or input is named `inbx`")]),
    ("an unknown step in an attribute", "#[after(last)]", "#[after(lst)]", [("lst", "no step is named `lst`")]),
    ("a field without a name", "thread_id: inbox.data[0].thread_id,", "thread_id: inbox.data[0].,", [(".", "expected the name of a field after the `.`")]),
    ("an unknown attribute", "#[after(last)]", "#[aftr(last)]", [("aftr", "a step has no attribute `aftr`")]),
    ("an unknown option", "backoff =", "bakoff =", [("bakoff", "unknown option `bakoff`")]),
    ("an argument that is given twice", "body: reply,", "body: reply, body: reply,", [("body", "the argument `body` is given more than once")]),
]


def check_completions(found, expected):
    """What is wrong with what is offered."""
    for kind, labels in expected.items():
        labels = sorted(labels.split() if kind != "method" else labels.replace("(as ", "(as\0").split())
        labels = [label.replace("\0", " ") for label in labels]
        if kind == "has":
            every = {label for _, label in found}
            missing = [label for label in labels if label not in every]
            if missing:
                return f"not offered: {' '.join(missing)}"
            continue
        offered = sorted({label for of, label in found if of == kind})
        if kind == "variable":
            unexpected = [label for label in offered if label not in labels]
            offered = sorted(set(offered) - set(unexpected))
            if unexpected:
                return f"offered, too: {' '.join(unexpected)}"
        if kind == "method":
            offered = [label for label in offered if label in labels]
        if offered != labels:
            return f"{kind}s offered: {' '.join(offered) or 'none'}"
    return None


def begin_as(found, expected):
    return len(found) == len(expected) and all(line.startswith(start) for line, start in zip(found, expected))


def run(crate, table, show):
    """Takes all cases of a table, and says which failed. The tables are modules."""
    failed = []
    count = 0

    def case(group, title, wrong):
        nonlocal count
        count += 1
        if wrong:
            failed.append(f"{group}, {title}: {wrong}")

    case("diagnostics", "a correct file", crate.diagnostics(crate.base) or None)
    for title, old, new, expected in getattr(table, "COMPLETIONS", []):
        found = crate.completions(crate.edited(old, new))
        if show:
            fields = [label for kind, label in found if kind in ("field", "variable", "module", "static")]
            print(f"{new.strip()}\n    {' '.join(fields)}")
        case("completion", title, check_completions(found, expected))
    for broken, old, new in getattr(table, "ELSEWHERE", []):
        base = crate.edited(old, new)
        for place, marked, expected in table.ELSEWHERE_COMPLETIONS:
            found = crate.completions(base.replace(place, marked, 1))
            case("completion", f"{marked} with {broken} elsewhere", check_completions(found, expected))
    for title, old, new, expected in getattr(table, "RANKED", []):
        found = crate.ranked(crate.edited(old, new))[: len(expected.split())]
        case("ranking", title, None if found == expected.split() else f"first is {' '.join(found)}")
    for title, marked, expected in getattr(table, "DEFINITIONS", []):
        found = crate.definitions(crate.marked(marked))
        case("definition", title, None if found == expected else f"found {found}")
    for title, marked, expected in getattr(table, "HOVERS", []):
        found = crate.hover(crate.marked(marked))
        if show:
            print(f"{marked}\n    {found}")
        internal = [text for text in INTERNAL if text in found]
        missing = [text for text in expected if text not in found]
        case("hover", title, f"found {found!r}" if missing or internal else None)
    if hints := getattr(table, "HINTS", None):
        found = crate.hints(crate.base)
        case("hints", "a correct file", None if found == hints else f"found {found}")
    for title, marked, expected in getattr(table, "SIGNATURES", []):
        found = crate.signatures(crate.marked(marked))
        case("signature", title, None if found == expected else f"found {found}")
    for title, marked, expected in getattr(table, "REFERENCES", []):
        found = crate.references(crate.marked(marked))
        case("references", title, None if begin_as(found, expected) else f"found {found}")
    for title, marked, expected in getattr(table, "RENAMES", []):
        found = crate.rename(crate.marked(marked), "renamed")
        case("rename", title, None if begin_as(found, expected) else f"found {found}")
    for title, old, new, expected in getattr(table, "DIAGNOSTICS", []):
        found = crate.diagnostics(crate.edited(old, new))
        same = len(found) == len(expected) and all(
            at == where and message.startswith(text) for (at, message), (where, text) in zip(found, expected)
        )
        case("diagnostics", title, None if same else f"found {found}")
    print(f"tests/editor: {count - len(failed)} of {count} cases")
    return failed
