//! Requests that a client or a worker refuses before a run starts.

use super::app::{App, Chain};
use plan_restate::{Client, Error, Worker};
use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Token {
    #[shape(secret)]
    text: String,
}

/// Gives a token.
#[tool]
async fn log_in() -> Result<Token> {
    Ok(Token {
        text: "geheim".into(),
    })
}

plan! {
    Secret() -> String {
        step token = LogIn {};
        token.text.clone()
    }
}

#[tokio::test]
async fn what_cannot_be_submitted_is_an_error() {
    let client = Client::new("http://127.0.0.1:1").unwrap();
    let error = Secret {}.submit(&client, "secret").await.unwrap_err();
    assert!(matches!(error, Error::Start(_)), "{error:?}");
    assert_eq!(
        error.to_string(),
        "plan `secret` cannot start: it has secrets, which the engine would keep in plain text; let tools look the secrets up, or use an encrypted journal instead: `.durable(&db, id)` with `Sqlite::open(…)?.encrypted(&key)`"
    );
    assert!(Client::new("localhost").is_err());
    assert_eq!(
        Client::new("https://localhost:8080")
            .unwrap_err()
            .to_string(),
        "`https://localhost:8080` does not begin with `http:`; for TLS, give `Client::with_executor` an HTTP client that has it"
    );

    let client = client.patience(Duration::from_millis(100));
    let error = Chain { n: 1 }.submit(&client, "chain").await.unwrap_err();
    let error = error.to_string();
    assert!(
        error.starts_with(
            "Restate: its ingress does not answer at `http://127.0.0.1:1`; start the server, or"
        ) && error.contains("refused"),
        "{error}"
    );
}

#[tokio::test]
async fn a_worker_has_a_name_that_restate_takes() {
    let served = Worker::new(App::silent())
        .service("my orders")
        .serve("127.0.0.1:0")
        .await;
    let error = served.unwrap_err().to_string();
    assert!(
        error.starts_with("`my orders` cannot be the name of a service: "),
        "{error}"
    );
}
