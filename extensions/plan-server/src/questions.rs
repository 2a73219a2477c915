//! The requests about the questions before calls.

use crate::answer::Text;
use crate::decisions::{Answered, Change, Named};
use crate::desk::{Question, whole_text};
use crate::error::{Json, Path, Problem, short};
use crate::limits;
use crate::run_json::time;
use crate::runs::{Answer, Shared};
use crate::state::State;
use axum::extract::State as From;
use axum::http::StatusCode;
use axum::response::Response;
use plan_runtime::run::Decision;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;

/// `POST /api/runs/{id}/questions/{question}`.
#[derive(Deserialize)]
pub(crate) struct Decide {
    decision: String,
    #[serde(flatten)]
    named: Named,
    /// The changed arguments of an allowed call.
    arguments: Option<Value>,
}

pub(crate) async fn decide(
    From(state): Shared,
    Path((id, question)): Path<(String, String)>,
    Json(asked): Json<Decide>,
) -> Answer {
    state
        .blocking(move |state| {
            let arguments = asked.arguments.clone();
            let answered = Answered::new(&asked.decision, &asked.named);
            let decision = match &*asked.decision {
                "allow" => match asked.arguments {
                    Some(arguments) => state.change(&id, &question, arguments)?,
                    None => Decision::Allow,
                },
                _ if arguments.is_some() => {
                    return Err(Problem::bad(
                        "the decision has `arguments`",
                        "Only `allow` accepts changed arguments.",
                    ));
                }
                "allow_step" => Decision::AllowStep,
                "refuse" => refusal(&asked.named),
                other => {
                    let message = format!("`{}` is not a decision", short(other));
                    return Err(Problem::bad(
                        message,
                        "Write `allow`, `allow_step` or `refuse`.",
                    ));
                }
            };
            let record = |asked: &Question| {
                let answered = answered.about(asked);
                let answered = match arguments {
                    Some(arguments) => Answered {
                        changed: true,
                        original: Some(asked.arguments.clone()),
                        arguments: Some(arguments),
                        ..answered
                    },
                    None => answered,
                };
                tracing::info!(
                    run = id,
                    question,
                    tool = asked.tool,
                    "a call was {}",
                    answered.sentence()
                );
                state.decisions.record(&id, &answered)
            };
            if state.desk.answer(&id, &question, decision, record)? {
                return Ok(axum::Json(json!({})));
            }
            Err(state.no_question(&id, &question))
        })
        .await
}

/// `POST /api/runs/{id}/questions`.
#[derive(Deserialize)]
pub(crate) struct DecideAll {
    questions: Vec<String>,
    decision: String,
    #[serde(flatten)]
    named: Named,
}

pub(crate) async fn decide_all(
    From(state): Shared,
    Path(id): Path<String>,
    Json(asked): Json<DecideAll>,
) -> Answer {
    state
        .blocking(move |state| {
            let decision = match &*asked.decision {
                "allow" => Decision::Allow,
                "refuse" => refusal(&asked.named),
                other => {
                    let message =
                        format!("`{}` is not a decision about several calls", short(other));
                    return Err(Problem::bad(message, "Write `allow` or `refuse`."));
                }
            };
            let answered = Answered::new(&asked.decision, &asked.named);
            let record = |question: &Question| {
                let answered = answered.clone().about(question);
                tracing::info!(
                    run = id,
                    question = question.id,
                    tool = question.tool,
                    "a call was {}",
                    answered.sentence()
                );
                state.decisions.record(&id, &answered)
            };
            let count = state
                .desk
                .answer_all(&id, &asked.questions, &decision, record)?;
            match (count, asked.questions.first()) {
                (0, Some(first)) => Err(state.no_question(&id, first)),
                _ => Ok(axum::Json(json!({"answered": count}))),
            }
        })
        .await
}

/// Returns the refusal of a call with the reason of a person.
fn refusal(named: &Named) -> Decision {
    Decision::Refuse(match named.reason.as_deref().map(str::trim) {
        None | Some("") => "no reason was given".to_owned(),
        Some(reason) => reason.chars().take(limits::REASON).collect(),
    })
}

impl State {
    /// Checks the changed arguments of a call against the tool's schema.
    fn change(&self, run: &str, question: &str, arguments: Value) -> Result<Decision, Problem> {
        let call = self.desk.question(run, question);
        let call = call.ok_or_else(|| self.no_question(run, question))?;
        let toolbox = self.server.toolbox();
        // Only the call itself reads the arguments of a tool that the toolbox lacks, such as a tool in a plan of `plan!`.
        let wrong = toolbox.check_arguments(&call.tool, &arguments);
        let mut wrong = wrong.unwrap_or_default();
        if !arguments.is_object() && wrong.is_empty() {
            wrong.push("the arguments are not a JSON object".to_owned());
        }
        if wrong.is_empty() {
            return Ok(Decision::AllowWith(arguments));
        }
        Err(Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "ARGUMENTS",
            wrong.join("; "),
            "Correct the arguments. The call still waits.",
        ))
    }

    /// Returns the problem for a question that is not open, with the answer to the question.
    fn no_question(&self, run: &str, question: &str) -> Problem {
        let all = self.decisions.of_run(run);
        let mut all = all.into_iter();
        let answered = all.find(|it| it.question.as_deref() == Some(question));
        let problem =
            |message, help| Problem::new(StatusCode::CONFLICT, "NO_SUCH_QUESTION", message, help);
        match answered {
            Some(answered) => problem(
                format!("the call was {}", answered.sentence()),
                "Your answer has no effect, because each question takes one answer. Open the run to see its state.",
            )
            .with("decision", json!(answered.without_values())),
            None => problem(
                format!("question `{}` of the run is closed", short(question)),
                "Your answer has no effect: the run has ended, or the server has restarted and asks again. Open the run, and answer the questions that it still shows.",
            ),
        }
    }
}

/// `GET /api/runs/{id}/questions/{question}`.
pub(crate) async fn question(
    From(state): Shared,
    Path((id, question)): Path<(String, String)>,
) -> Answer<Response> {
    state
        .blocking(move |state| {
            let call = state.desk.question(&id, &question);
            let call = call.ok_or_else(|| state.no_question(&id, &question))?;
            let arguments = call.arguments;
            let answer = json!({"text": whole_text(&arguments), "json": format!("{arguments:#}")});
            let text = Text::new(&state.answers, "", &answer, "")?;
            Ok(text.response("application/json"))
        })
        .await
}

/// `GET /api/questions`.
pub(crate) async fn questions(From(state): Shared) -> Answer<Response> {
    state
        .blocking(move |state| {
            let (count, first) = state.desk.first(limits::QUESTIONS_ON_PAGE);
            let mut names = HashMap::new();
            let mut questions = Vec::new();
            for (run, question) in first {
                if !names.contains_key(&run) {
                    let found = state.find(&run)?;
                    let expires = found.as_ref().map(|run| time(state.expires(run)));
                    names.insert(run.clone(), (found.map(|run| run.plan), expires));
                }
                // The list has each member that the run has, except long arguments.
                let is_whole = question.is_whole;
                let is_long = question
                    .changed_before
                    .as_ref()
                    .is_some_and(Change::is_long);
                let mut asked = json!(question);
                if let Some(asked) = asked.as_object_mut() {
                    if !is_whole {
                        asked.remove("arguments");
                    }
                    if is_long {
                        asked.remove("changed_before");
                    }
                    let (plan, expires) = &names[&run];
                    let name = state.decisions.name(&run);
                    asked.insert("name".to_owned(), json!(name));
                    asked.insert("plan".to_owned(), json!(plan));
                    asked.insert("expires".to_owned(), json!(expires));
                    asked.insert("run".to_owned(), run.into());
                }
                questions.push(asked);
            }
            let answer = json!({"questions": questions, "count": count});
            let text = Text::new(&state.answers, "", &answer, "")?;
            Ok(text.response("application/json"))
        })
        .await
}
