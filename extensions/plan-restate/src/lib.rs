#![doc = include_str!("../README.md")]
mod client;
mod driver;
mod error;
mod host;
mod http;
mod named;
mod plans;
mod seam;
mod serve;
mod steps;
mod wire;
mod worker;

pub use client::{Client, PATIENCE, RunHandle, Submission};
pub use error::Error;
pub use http::{Http, HttpError};
pub use restate_sdk::ingress::RequestExecutor;
pub use wire::Failed;
pub use worker::{GRACE, LONGEST_CALL, RETENTION, Worker};
