//! The complete diagrams of some plans.

use super::{drawn, keep};
use plan_runtime::plan::Direction;
use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Serialize, Deserialize, Shape)]
struct Person {
    email: String,
    manager: Option<Box<Person>>,
}

#[derive(Serialize, Deserialize, Shape)]
#[serde(rename_all = "camelCase")]
struct Mail {
    thread_id: String,
    from: Person,
}

#[derive(Serialize, Deserialize, Shape)]
struct Inbox {
    data: Vec<Mail>,
}

#[tool]
async fn fetch(sender: String) -> Result<Inbox> {
    unimplemented!("{sender}")
}

#[tool]
async fn reply(thread: String, to: Option<String>, text: String) -> Result<String> {
    unimplemented!("{thread} {to:?} {text}")
}

plan! {
    Answer(sender: String) -> String {
        /// Find the "latest" mails of the sender, including those that were read.
        #[retry(3, backoff = "200ms")]
        #[timeout("10s")]
        step inbox = Fetch { sender };
        step sent = Reply {
            thread: inbox.data[0].thread_id,
            to: inbox.data.get(0)?.from.manager?.email,
            text: format!("Re: {sender}"),
        };
        #[optional]
        #[after(sent)]
        step end = Reply { thread: "x", to: None, text: sender };
        sent
    }
}

plan! {
    Booked(sender: String) -> String {
        step booked = Reply { thread: "x", to: None, text: sender };
        #[undo(booked)]
        step cancelled = Reply { thread: booked, to: None, text: "no" };
        #[always]
        step told = Reply { thread: "y", to: booked.err()?.message, text: "done" };
        booked
    }
}

#[test]
fn undo_steps_and_always_steps() {
    let (mermaid, dot) = drawn(Booked::PLAN);
    keep("booked", &mermaid, &dot);
    let edges: Vec<&str> = mermaid
        .lines()
        .filter(|line| line.contains("-.->"))
        .collect();
    assert_eq!(edges, [r#"  step_cancelled -.->|"undo"| step_booked"#]);
    assert!(
        mermaid.contains("undo(booked)") && mermaid.contains("always"),
        "{mermaid}"
    );
    let node = r#"  step_cancelled["cancelled = reply<br/>undo(booked)"]:::dashed"#;
    assert!(mermaid.lines().any(|line| line == node), "{mermaid}");
    assert!(dot.contains(r#"style=dashed, constraint=false"#), "{dot}");
    let node = r#"[label="cancelled = reply\nundo(booked)", style=dashed];"#;
    assert!(dot.contains(node), "{dot}");
}

#[test]
#[cfg(feature = "html")]
fn undo_steps_of_a_page() {
    let sender = "Ada".to_owned();
    let (_, report) = smol::block_on(Booked { sender }.run(&()).with_report());
    let html = report.to_html();
    let arrow = r#"<path class="edge undo" data-from="0" data-to="1""#;
    assert!(html.contains(arrow), "{html}");
    assert!(html.contains("<title>booked → cancelled (undo)</title>"));
    assert_eq!(html.matches(r#"<a class="node skipped undo""#).count(), 1);
}

#[test]
fn paths_and_policies() {
    let (mermaid, dot) = drawn(Answer::PLAN);
    keep("answer", &mermaid, &dot);
    assert_eq!(
        mermaid,
        r##"---
title: "answer"
config:
  flowchart:
    wrappingWidth: 600
---
flowchart TB
  input_sender[/"sender: String"/]:::input
  step_inbox["○ inbox = fetch<br/>Find the #34;latest#34; mails of the<br/>sender, including those that were<br/>read.<br/>retry(3, backoff = #34;200ms#34;)<br/>timeout(#34;10s#34;)"]
  step_sent["sent = reply"]
  step_end["end = reply<br/>optional"]:::dashed
  output(["output: String"]):::output
  input_sender --> step_inbox
  step_inbox -->|"data[0].thread_id<br/>data.get(0)?.from.manager?.email"| step_sent
  input_sender --> step_sent
  input_sender --> step_end
  step_sent --> output
  step_sent -.-> step_end
  classDef input fill:none
  classDef output fill:none
  classDef dashed stroke-dasharray:5 4
"##
    );
    assert_eq!(
        dot,
        r##"digraph "answer" {
  graph [rankdir=TB, compound=true, fontname="sans-serif", label="answer", labelloc=t];
  node [shape=box, fontname="sans-serif"];
  edge [fontname="sans-serif", fontsize=11];
  input_sender [label="sender: String", shape=parallelogram];
  step_inbox [label="○ inbox = fetch\nFind the \"latest\" mails of the\nsender, including those that were\nread.\nretry(3, backoff = \"200ms\")\ntimeout(\"10s\")"];
  step_sent [label="sent = reply"];
  step_end [label="end = reply\noptional", style=dashed];
  output [label="output: String", shape=oval];
  input_sender -> step_inbox;
  step_inbox -> step_sent [label="data[0].thread_id\ndata.get(0)?.from.manager?.email"];
  input_sender -> step_sent;
  input_sender -> step_end;
  step_sent -> output;
  step_sent -> step_end [style=dashed];
}
"##
    );
}

plan! {
    Flow(mails: Vec<Mail>, quick: bool) -> Vec<Option<String>> {
        #[concurrency(4)]
        step answers = for mail in mails {
            if let Some(boss) = &mail.from.manager {
                Reply { thread: mail.thread_id, to: Some(boss.email), text: "hello" }
            }
        };
        step last = if quick && !answers.is_empty() {
            Reply { thread: "x", to: answers[0], text: "quick" }
        } else if quick {
            Answer { sender: mails[0].from.email }
        } else {
            Reply { thread: "x", to: None, text: "slow" }
        };
        step all: usize = answers.len() + last.len();
        step words = Reply { thread: last, to: None, text: format!("{all}") };
        [Some(words)]
    }
}

#[test]
fn conditions_and_loops() {
    let (mermaid, dot) = drawn(Flow::PLAN);
    keep("flow", &mermaid, &dot);
    assert_eq!(
        mermaid,
        r##"---
title: "flow"
config:
  flowchart:
    wrappingWidth: 600
---
flowchart TB
  input_mails[/"mails: Vec#60;Mail#62;"/]:::input
  input_quick[/"quick: bool"/]:::input
  step_all("all = answers.len() + last.len()")
  step_words["words = reply"]
  output(["output: Vec#60;Option#60;String#62;#62;"]):::output
  subgraph step_answers["○ answers"]
    note_step_answers["concurrency(4)"]:::note
    step_answers_for{{"for mail in mails"}}
    step_answers_if{"if let Some(boss) =<br/>mail.from.manager"}
    step_answers_call["reply"]
  end
  subgraph step_last["last"]
    step_last_if{"if quick #38;#38; !answers.is_empty()"}
    step_last_call["reply"]
    step_last_if_2{"if quick"}
    step_last_call_2["answer"]
    step_last_call_3["reply"]
  end
  step_answers_if ==>|"then<br/>boss.email"| step_answers_call
  step_answers_for ==>|"each<br/>mail.from.manager"| step_answers_if
  step_last_if ==>|"then"| step_last_call
  step_last_if_2 ==>|"then"| step_last_call_2
  step_last_if ==>|"else"| step_last_if_2
  step_last_if_2 ==>|"else"| step_last_call_3
  input_mails --> step_answers_for
  step_answers_for -->|"mail.thread_id"| step_answers_call
  input_quick --> step_last_if
  step_answers --> step_last_if
  step_answers -->|"[0]"| step_last_call
  input_quick --> step_last_if_2
  input_mails -->|"[0].from.email"| step_last_call_2
  step_answers --> step_all
  step_last --> step_all
  step_last --> step_words
  step_all --> step_words
  step_words --> output
  classDef input fill:none
  classDef output fill:none
  classDef note fill:none,stroke:none
"##
    );
    assert_eq!(
        dot,
        r##"digraph "flow" {
  graph [rankdir=TB, compound=true, fontname="sans-serif", label="flow", labelloc=t];
  node [shape=box, fontname="sans-serif"];
  edge [fontname="sans-serif", fontsize=11];
  input_mails [label="mails: Vec<Mail>", shape=parallelogram];
  input_quick [label="quick: bool", shape=parallelogram];
  step_all [label="all = answers.len() + last.len()", style=rounded];
  step_words [label="words = reply"];
  output [label="output: Vec<Option<String>>", shape=oval];
  subgraph cluster_step_answers {
    graph [label="○ answers\nconcurrency(4)", style="rounded"];
    step_answers_for [label="for mail in mails", shape=hexagon];
    step_answers_if [label="if let Some(boss) =\nmail.from.manager", shape=diamond];
    step_answers_call [label="reply"];
  }
  subgraph cluster_step_last {
    graph [label="last", style="rounded"];
    step_last_if [label="if quick &amp;&amp; !answers.is_empty()", shape=diamond];
    step_last_call [label="reply"];
    step_last_if_2 [label="if quick", shape=diamond];
    step_last_call_2 [label="answer"];
    step_last_call_3 [label="reply"];
  }
  step_answers_if -> step_answers_call [label="then\nboss.email", style=bold];
  step_answers_for -> step_answers_if [label="each\nmail.from.manager", style=bold];
  step_last_if -> step_last_call [label="then", style=bold];
  step_last_if_2 -> step_last_call_2 [label="then", style=bold];
  step_last_if -> step_last_if_2 [label="else", style=bold];
  step_last_if_2 -> step_last_call_3 [label="else", style=bold];
  input_mails -> step_answers_for;
  step_answers_for -> step_answers_call [label="mail.thread_id"];
  input_quick -> step_last_if;
  step_answers_for -> step_last_if [ltail=cluster_step_answers];
  step_answers_for -> step_last_call [ltail=cluster_step_answers, label="[0]"];
  input_quick -> step_last_if_2;
  input_mails -> step_last_call_2 [label="[0].from.email"];
  step_answers_for -> step_all [ltail=cluster_step_answers];
  step_last_if -> step_all [ltail=cluster_step_last];
  step_last_if -> step_words [ltail=cluster_step_last];
  step_all -> step_words;
  step_words -> output;
}
"##
    );
}

#[test]
fn plans_in_plans() {
    let mermaid = Flow::PLAN
        .mermaid()
        .direction(Direction::Right)
        .nested(Answer::PLAN)
        .nested(Flow::PLAN);
    let dot = Flow::PLAN
        .dot()
        .nested(Answer::PLAN)
        .direction(Direction::Right);
    let (mermaid, dot) = (mermaid.to_string(), dot.to_string());
    keep("nested", &mermaid, &dot);
    assert_eq!(
        mermaid,
        r##"---
title: "flow"
config:
  flowchart:
    wrappingWidth: 600
---
flowchart LR
  input_mails[/"mails: Vec#60;Mail#62;"/]:::input
  input_quick[/"quick: bool"/]:::input
  step_all("all = answers.len() + last.len()")
  step_words["words = reply"]
  output(["output: Vec#60;Option#60;String#62;#62;"]):::output
  subgraph step_answers["○ answers"]
    note_step_answers["concurrency(4)"]:::note
    step_answers_for{{"for mail in mails"}}
    step_answers_if{"if let Some(boss) =<br/>mail.from.manager"}
    step_answers_call["reply"]
  end
  subgraph step_last["last"]
    step_last_if{"if quick #38;#38; !answers.is_empty()"}
    step_last_call["reply"]
    step_last_if_2{"if quick"}
    step_last_call_3["reply"]
    subgraph step_last_call_2["answer"]
      step_last_call_2_input_sender[/"sender: String"/]:::input
      step_last_call_2_step_inbox["inbox = fetch<br/>Find the #34;latest#34; mails of the<br/>sender, including those that were<br/>read.<br/>retry(3, backoff = #34;200ms#34;)<br/>timeout(#34;10s#34;)"]
      step_last_call_2_step_sent["sent = reply"]
      step_last_call_2_step_end["end = reply<br/>optional"]:::dashed
      step_last_call_2_output(["output: String"]):::output
    end
  end
  step_answers_if ==>|"then<br/>boss.email"| step_answers_call
  step_answers_for ==>|"each<br/>mail.from.manager"| step_answers_if
  step_last_if ==>|"then"| step_last_call
  step_last_call_2_input_sender --> step_last_call_2_step_inbox
  step_last_call_2_step_inbox -->|"data[0].thread_id<br/>data.get(0)?.from.manager?.email"| step_last_call_2_step_sent
  step_last_call_2_input_sender --> step_last_call_2_step_sent
  step_last_call_2_input_sender --> step_last_call_2_step_end
  step_last_call_2_step_sent --> step_last_call_2_output
  step_last_call_2_step_sent -.-> step_last_call_2_step_end
  step_last_if_2 ==>|"then"| step_last_call_2
  step_last_if ==>|"else"| step_last_if_2
  step_last_if_2 ==>|"else"| step_last_call_3
  input_mails --> step_answers_for
  step_answers_for -->|"mail.thread_id"| step_answers_call
  input_quick --> step_last_if
  step_answers --> step_last_if
  step_answers -->|"[0]"| step_last_call
  input_quick --> step_last_if_2
  input_mails -->|"[0].from.email"| step_last_call_2_input_sender
  step_answers --> step_all
  step_last --> step_all
  step_last --> step_words
  step_all --> step_words
  step_words --> output
  classDef input fill:none
  classDef output fill:none
  classDef dashed stroke-dasharray:5 4
  classDef note fill:none,stroke:none
"##
    );
    assert!(dot.contains("rankdir=LR"), "{dot}");
}

/// A block in a step, in a loop and in another block, and an empty one.
#[test]
fn blocks() {
    let reference = |kind: &str, name: &str, pointer: &str| json!({"reference": {kind: name, "pointer": pointer}});
    let call = |tool: &str, name: &str, value: serde_json::Value| json!({"tool": {"name": tool}, "arguments": {"object": {name: value}}});
    let step = |id: &str, mut body: serde_json::Value| {
        body["id"] = id.into();
        body
    };
    let flight = step(
        "flight",
        call("book_flight", "to", reference("input", "city", "")),
    );
    let hotel = step(
        "hotel",
        call(
            "book_hotel",
            "near",
            reference("step", "flight", "/airport"),
        ),
    );
    let trip = json!({"steps": [flight, hotel], "value": reference("step", "hotel", "")});
    let page = step("page", call("fetch", "url", reference("input", "url", "")));
    let round = json!({
        "steps": [page],
        "tail": call("summarize", "page", json!([reference("step", "page", ""), reference("step", "trip", "/id")])),
    });
    let pages =
        json!({"pattern": "url", "list": reference("input", "urls", ""), "body": {"block": round}});
    let document = json!({
        "name": "travel",
        "inputs": [{"name": "city"}, {"name": "urls"}],
        "steps": [
            {"id": "trip", "block": trip, "policy": {"optional": "whole"}},
            {"id": "pages", "for": pages},
            {"id": "nothing", "block": {"steps": []}},
        ],
    });
    let plan: plan_runtime::Plan = serde_json::from_value(document).unwrap();
    let (mermaid, dot) = drawn(&plan);
    keep("blocks", &mermaid, &dot);
    assert_eq!(
        mermaid,
        r##"---
title: "travel"
config:
  flowchart:
    wrappingWidth: 600
---
flowchart TB
  input_city[/"city"/]:::input
  input_urls[/"urls"/]:::input
  subgraph step_trip["○ trip"]
    note_step_trip["optional"]:::note
    step_trip_input_city[/"city"/]:::input
    step_trip_step_flight["flight = book_flight"]
    step_trip_step_hotel["hotel = book_hotel"]
    step_trip_output(["output"]):::output
  end
  subgraph step_pages["pages"]
    step_pages_for{{"for url in urls"}}
    subgraph step_pages_block["block"]
      step_pages_block_input_url[/"url"/]:::input
      step_pages_block_input_trip[/"trip"/]:::input
      step_pages_block_step_page["page = fetch"]
      step_pages_block_step__["summarize"]
      step_pages_block_output(["output"]):::output
    end
  end
  subgraph step_nothing["○ nothing"]
    step_nothing_call("null")
  end
  step_trip_input_city --> step_trip_step_flight
  step_trip_step_flight -->|"airport"| step_trip_step_hotel
  step_trip_step_hotel --> step_trip_output
  step_pages_block_input_url --> step_pages_block_step_page
  step_pages_block_step_page --> step_pages_block_step__
  step_pages_block_input_trip -->|"id"| step_pages_block_step__
  step_pages_block_step__ --> step_pages_block_output
  step_pages_for ==>|"each"| step_pages_block
  input_city --> step_trip_input_city
  input_urls --> step_pages_for
  step_pages_for -->|"url"| step_pages_block_input_url
  step_trip --> step_pages_block_input_trip
  classDef input fill:none
  classDef output fill:none
  classDef dashed stroke-dasharray:5 4
  classDef note fill:none,stroke:none
  class step_trip dashed
"##
    );
    assert!(dot.contains("subgraph cluster_step_pages_block {"), "{dot}");
}
