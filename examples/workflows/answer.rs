//! An agent: a model answers a question, and may call tools first. The model receives their outputs, for a limited number of rounds. A failed
//! tool does not end the conversation: the model receives the error.

mod support;

use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use support::{TokioTimer, World, show};

/// A tool that the model wants to be called.
#[derive(Clone, Serialize, Deserialize, Shape)]
struct ToolCall {
    name: String,
}

#[derive(Serialize, Deserialize, Shape)]
struct Reply {
    text: String,
    calls: Vec<ToolCall>,
}

/// The conversation so far, with the model's latest reply.
#[derive(Serialize, Deserialize, Shape)]
struct Turn {
    text: String,
    calls: Vec<ToolCall>,
    history: Vec<String>,
}

impl Turn {
    fn after<E: ToString>(
        last: &Option<Self>,
        reply: &Reply,
        results: &[Result<String, E>],
    ) -> Self {
        let mut history = last
            .as_ref()
            .map_or_else(Vec::new, |last| last.history.clone());
        history.push(reply.text.clone());
        history.extend(results.iter().map(|result| match result {
            Ok(text) => text.clone(),
            Err(error) => error.to_string(),
        }));
        Self {
            text: reply.text.clone(),
            calls: reply.calls.clone(),
            history,
        }
    }
}

/// Asks the model, which looks up the weather in two cities before it knows an answer. The model never has an answer about the moon.
#[tool]
async fn ask_model(world: &World, question: String, history: Option<Vec<String>>) -> Result<Reply> {
    let heard = history.unwrap_or_default();
    world.call(format!("ask {question} {heard:?}")).await?;
    let knows = !heard.is_empty() && !question.contains("moon");
    let cities: &[&str] = if knows { &[] } else { &["Leiden", "Delft"] };
    let calls = cities.iter().map(|&name| ToolCall { name: name.into() });
    let calls: Vec<ToolCall> = calls.collect();
    let text = match calls.len() {
        0 => format!("it is {}", heard[1..].join(" and ")),
        _ => "I look it up".into(),
    };
    Ok(Reply { text, calls })
}

/// Calls a tool for the model.
#[tool]
async fn use_tool(world: &World, call: ToolCall) -> Result<String> {
    world.call(format!("weather in {}", call.name)).await?;
    Ok(format!("dry in {}", call.name))
}

plan! {
    /// Answers a question, with tools.
    Answer(question: String, rounds: u32) -> String {
        #[at_most(rounds)]
        step answer = loop |last| {
            step reply = AskModel { question, history: last?.history };
            #[catch(each)]
            step results = for call in reply.calls { UseTool { call } };
            step turn: Turn = Turn::after(&last, &reply, &results);
            turn
        } while !turn.calls.is_empty();
        answer.text
    }
}

mod by_hand {
    use super::*;
    use futures_util::future::join_all;
    use plan_runtime::Error;

    pub(crate) async fn answer(world: &World, question: String, rounds: u32) -> Result<String> {
        let mut last: Option<Turn> = None;
        for _ in 0..rounds {
            let history = last.as_ref().map(|last| last.history.clone());
            let reply = ask_model(world, question.clone(), history).await?;
            let calls = reply.calls.iter().cloned().enumerate();
            let results = calls.map(async |(index, call)| {
                let result = use_tool(world, call).await;
                result.map_err(|error| format!("step `results[{index}]` failed: {error}"))
            });
            let results = join_all(results).await;
            let turn = Turn::after(&last, &reply, &results);
            if turn.calls.is_empty() {
                return Ok(turn.text);
            }
            last = Some(turn);
        }
        Err(Error::permanent("no answer").with_code("TOO_MANY_ROUNDS"))
    }
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    println!("{}", Answer::PLAN);
    let scenarios = [
        ("all is well", "what is the weather?", World::default()),
        (
            "a tool fails",
            "what is the weather?",
            World::default().breaks("weather in Delft", "no station"),
        ),
        ("no answer", "how is it on the moon?", World::default()),
    ];
    for (title, question, world) in scenarios {
        let answer = Answer {
            question: question.into(),
            rounds: 3,
        };
        let run = answer.run(&world).timer(TokioTimer).with_report().await;
        let by_hand = by_hand::answer(&world, question.into(), 3).await;
        show(title, run, by_hand);
    }
}

#[cfg(test)]
mod tests {
    use super::support::{Done, both};
    use super::*;

    async fn outcome(world: impl Fn() -> World, question: &str) -> Done<String> {
        both(
            world,
            async |world| {
                let answer = Answer {
                    question: question.into(),
                    rounds: 3,
                };
                Ok(answer.run(world).timer(TokioTimer).await?)
            },
            async |world| by_hand::answer(world, question.into(), 3).await,
        )
        .await
    }

    #[tokio::test(start_paused = true)]
    async fn the_model_hears_what_tools_say() {
        let done = outcome(World::default, "weather?").await;
        assert_eq!(
            done.output,
            Ok("it is dry in Leiden and dry in Delft".into())
        );
        assert_eq!((done.calls.len(), done.most_open), (4, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn the_model_hears_of_failures() {
        let world = || World::default().breaks("weather in Delft", "no station");
        let done = outcome(world, "weather?").await;
        assert_eq!(
            done.output,
            Ok("it is dry in Leiden and step `results[1]` failed: no station".into())
        );
    }

    #[tokio::test(start_paused = true)]
    async fn rounds_are_limited() {
        let done = outcome(World::default, "moon?").await;
        assert_eq!(done.calls.len(), 9);
        assert_eq!(done.output, Err("TOO_MANY_ROUNDS".into()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_model_that_fails_ends_the_conversation() {
        let done = outcome(|| World::default().breaks("ask", "no credit"), "weather?").await;
        assert_eq!(done.output, Err("no credit".into()));
    }
}
